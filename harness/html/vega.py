"""The style of all plots, their colours, and plots as SVG."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from harness.errors import HarnessError
from harness.html import packing
from harness.html.labels import named
from harness.types import JSON

EXTRA = "report"
PALETTE = {
    False: ["#2f6f9f", "#c8702a", "#3d8a5f", "#8a5fa8", "#b5475b", "#7a6a4f", "#4f8f99", "#9a8b1f",
            "#1d3a57", "#8f2d8a", "#8cb04a", "#e0a3a0"],
    True: ["#7db6e0", "#eba36a", "#7fc79d", "#c4a0de", "#ec8f9f", "#c2b08f", "#8ecdd6", "#d6c75a",
           "#5b7fc4", "#e07ad8", "#b5d97a", "#b0625c"],
}  # fmt: skip
FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
WIDTH = 680  # pixels of a drawn plot
LABEL = 260  # the most pixels of a system's name
ROOM = 36  # pixels left and right of a picture: a reader's font may be wider than the one that was measured


def theme(dark: bool) -> dict[str, JSON]:
    """The style of all plots, on a transparent background."""
    ink, soft, line = ("#e8e6e1", "#a9a69e", "#3a3d42") if dark else ("#22252a", "#63666c", "#dddad3")
    axis = {
        "labelColor": soft, "titleColor": ink, "gridColor": line, "domainColor": line, "tickColor": line,
        "titleFontWeight": "normal", "labelLimit": LABEL, "titleLimit": 600, "labelFontSize": 12,
        "titleFontSize": 12, "titlePadding": 8,
    }  # fmt: skip
    legend = {"labelColor": soft, "titleColor": ink, "labelLimit": LABEL, "titleFontWeight": "normal"}
    heat = ["#24303a", "#7db6e0"] if dark else ["#f3efe6", "#2f6f9f"]
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "legend": legend,
        "title": {"color": ink, "fontWeight": "normal", "anchor": "start"},
        "range": {"category": PALETTE[dark], "heatmap": heat, "ramp": heat},
        "mark": {"color": PALETTE[dark][0], "aria": False},  # the page describes the plot as a whole
        "rule": {"color": soft},
        "text": {"color": ink, "fontSize": 12},
    }


def coloured(spec: JSON, dark: bool) -> JSON:
    """The plot with its named colour roles replaced by colours."""
    roles = {"heat-strong": "#14181d" if dark else "#ffffff", "heat-weak": "#e8e6e1" if dark else "#22252a"}
    if isinstance(spec, dict):
        return {key: coloured(value, dark) for key, value in spec.items()}
    if isinstance(spec, list):
        return [coloured(value, dark) for value in spec]
    return roles.get(spec, spec) if isinstance(spec, str) else spec


def svg(spec: JSON, dark: bool = False, width: int = WIDTH) -> str:
    """The plot as SVG, drawn without a browser or network."""
    convert = library()
    ready = coloured(named({**spec, "width": width}, width), dark)
    config = {
        **theme(dark),
        "background": "#16181b" if dark else "#ffffff",
        "padding": {"left": ROOM, "right": ROOM, "top": 12, "bottom": 12},
    }
    drawn: str = convert.vegalite_to_svg(ready, config=config, allowed_base_urls=[])
    return drawn


def interactive(spec: dict[str, JSON], dark: bool = False, width: int = WIDTH) -> str:
    """The plot as a page that needs nothing else, with tooltips. The axes that its `usermeta` names can be
    zoomed by the wheel and moved."""
    ready: Any = coloured(named({**spec, "width": width}, width), dark)
    axes = ready.get("usermeta", {}).get("zoom")
    if axes:
        layers = [{**layer, "mark": {**layer["mark"], "clip": True}} for layer in ready["layer"]]
        select = {"type": "interval", "encodings": axes}
        layers[-1] = {**layers[-1], "params": [{"name": "view", "select": select, "bind": "scales"}]}
        ready = {**ready, "layer": layers}
    config = {**theme(dark), "background": "#16181b" if dark else "#ffffff"}
    options = {"mode": "vega-lite", "renderer": "svg", "actions": False, "config": config}
    policy = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Plot</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><body style="margin:0">'
        f'<main id="plot" role="img" aria-label="plot"></main><script>{bundle()}</script>'
        f'<script type="application/json" id="spec">{packing.island([ready, options])}</script><script>'
        'vegaEmbed("#plot", ...JSON.parse(document.getElementById("spec").textContent))</script>'
    )


def bundle() -> str:
    """The script of Vega-Lite for a page."""
    script = str(library().javascript_bundle("window.vegaEmbed = vegaEmbed;"))  # the only name that is used
    return script.replace("</script", "<\\/script")


def library() -> Any:
    """The module vl-convert, which has the scripts of Vega-Lite for a page and draws pictures. Raises
    HarnessError if it is not installed."""
    try:
        return import_module("vl_convert")
    except ImportError:
        problem = f"report: needs vl_convert; pip install 'passage-harness[{EXTRA}]'"
        raise HarnessError(problem) from None
