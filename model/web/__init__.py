"""A bundle as ONNX graphs, for a page that runs the model itself (docs/site.md).

The graphs are exported from `model.transformer`; they name every tensor of the tap as an output,
and take what changes a tensor as an input. Needs the packages of requirements-web.txt.
"""
