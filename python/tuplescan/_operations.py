"""cummax(), cummin() and cumprod() of the modules for other libraries, made of a row each."""

from ._types import MAXIMUM, MINIMUM, PRODUCT

_ROWS = {
    "cummax": (MAXIMUM, "maxima", "the least value of the type", (2, 2, 4)),
    "cummin": (MINIMUM, "minima", "the greatest value of the type", (2, 1, 1)),
    "cumprod": (PRODUCT, "products", "1", (2, 2, 8)),
}
# What `also` says where there are gradients.
GRADIENTS = (
    ". The gradient of an extreme\n    goes to the last place where it was taken, "
    "and that of a product divides by nothing"
)
_DOCUMENT = """Running {results} {along}, as tuplescan.{name}() has them{also}.

    Parameters
    ----------
    {parameters}
        As for cumsum(). Exclusive {results} begin with {nothing}.
    dtype : dtype, optional
        What is converted to, and the type of the results. By default as for tuplescan.{name}().

    Returns
    -------
    {returns}
        As cumsum().

    Raises
    ------
    {raises}
        As cumsum(); TypeError for complex numbers, too.

    Examples
    --------
    {example}
    """


def of_each_operation(make, example, shown=str, also="", **described):
    """A function for each operation, by make(name, operation). The example has {name}, and {shown} for results."""
    for name, (operation, results, nothing, wanted) in _ROWS.items():
        call = make(name, operation)
        call.__name__ = call.__qualname__ = name
        row = {"name": name, "results": results, "nothing": nothing, "also": also, **described}
        call.__doc__ = _DOCUMENT.format(example=example.format(name=name, shown=shown(list(wanted))), **row)
        yield call
