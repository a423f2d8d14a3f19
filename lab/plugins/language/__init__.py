"""The language host for Python, `pulumi-language-python`."""
