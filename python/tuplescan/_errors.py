class OverflowAt(OverflowError):
    """A running sum of integers left its type, with check_overflow=True.

    Attributes
    ----------
    row : int
        The first place along the summed axis at which a sum is out of range,
        counted in the direction of the sum's array (from the front, also with
        reverse=True). With a state: counted from the first row that it ever
        summed, in the order in which rows are summed.
    column : int
        Where that is on the other axes, counted in row-major order; 0 for an
        array of one axis.

    Examples
    --------
    >>> try:
    ...     tuplescan.cumsum([100, 20, 10], dtype="i1", check_overflow=True)
    ... except tuplescan.OverflowAt as error:
    ...     error.row
    2
    """

    def __init__(self, row, column):
        super().__init__(row, column)
        self.row = row
        self.column = column

    def __str__(self):
        return f"the running sum leaves its type at row {self.row}, column {self.column}"
