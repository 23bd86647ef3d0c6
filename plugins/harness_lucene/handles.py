"""Composes Java functions from method handles, so that Python makes one call for a whole batch.

A call from Python into Java costs microseconds, and a batch has a million hits. With these functions no hit
becomes a Python object.
"""

from __future__ import annotations

from typing import Any

from harness_lucene.runtime import Java

LETTERS = {"void": "V", "int": "I", "long": "J", "float": "F", "double": "D", "boolean": "Z"}


def descriptor(name: str) -> str:
    """The name of a type in the virtual machine: `int` is I, `java.lang.String[]` is [Ljava/lang/String;"""
    if name.endswith("[]"):
        return "[" + descriptor(name[:-2])
    return LETTERS.get(name) or f"L{name.replace('.', '/')};"


def signature(java: Java, returns: str, takes: tuple[str, ...]) -> Any:
    written = f"({''.join(map(descriptor, takes))}){descriptor(returns)}"
    return java("java.lang.invoke.MethodType").fromMethodDescriptorString(written, None)


def type_of(java: Java, name: str) -> Any:
    """The Class object of a type."""
    from jnius import cast

    return cast("java.lang.Class", signature(java, name, ()).returnType())


def method(java: Java, owner: str, name: str, returns: str, *takes: str) -> Any:
    """A handle of the method `owner.name`, which takes the object as its first argument."""
    lookup = java("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findVirtual(type_of(java, owner), name, signature(java, returns, takes))


def static(java: Java, owner: str, name: str, returns: str, *takes: str) -> Any:
    lookup = java("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findStatic(type_of(java, owner), name, signature(java, returns, takes))


def constructor(java: Java, owner: str, *takes: str) -> Any:
    lookup = java("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findConstructor(type_of(java, owner), signature(java, "void", takes))


def getter(java: Java, owner: str, name: str, kind: str) -> Any:
    lookup = java("java.lang.invoke.MethodHandles").publicLookup()
    return lookup.findGetter(type_of(java, owner), name, type_of(java, kind))


def bind(java: Java, handle: Any, at: int, *values: Any) -> Any:
    """The handle with these values bound to its arguments from index `at` on. A number must be a Java object
    (`boxed`), because pyjnius takes the address of a plain one."""
    for value in values:
        handle = java("java.lang.invoke.MethodHandles").insertArguments(handle, at, value)
    return handle


def boxed(java: Java, value: int | float) -> Any:
    """A number as an object: an Integer or a Float."""
    return java("java.lang.Integer" if isinstance(value, int) else "java.lang.Float")(value)


def shaped(java: Java, handle: Any, returns: str, *takes: str) -> Any:
    """The handle with other types of arguments and result, to which they are cast."""
    return handle.asType(signature(java, returns, takes))


def then(java: Java, first: Any, *rest: Any) -> Any:
    """The handle of `rest[1](rest[0](first(...)))`. Each takes exactly the type that the last returns."""
    for following in rest:
        first = java("java.lang.invoke.MethodHandles").filterReturnValue(first, following)
    return first


def fed(java: Java, handle: Any, *sources: Any) -> Any:
    """The handle of `handle(sources[0](...), sources[1](...))`. Each source returns exactly the type that
    `handle` takes."""
    for at, source in enumerate(sources):
        handle = java("java.lang.invoke.MethodHandles").filterArguments(handle, at, source)
    return handle


def shared(java: Java, handle: Any, count: int, returns: str, takes: str) -> Any:
    """A handle with one argument, which it passes to all `count` arguments of `handle`."""
    order = [0] * count
    wanted = signature(java, returns, (takes,))
    return java("java.lang.invoke.MethodHandles").permuteArguments(handle, wanted, *order)


def function(java: Java, kind: str, handle: Any, package: str = "java.util.function") -> Any:
    """A Java object of the interface `kind`, whose one method calls the handle."""
    from jnius import cast

    interface = f"{package}.{kind}"
    proxies = java("java.lang.invoke.MethodHandleProxies")
    return cast(interface, proxies.asInterfaceInstance(type_of(java, interface), handle))
