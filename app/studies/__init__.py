"""Studies: a test before and after lessons or other pages, with participants in random arms.

Stores studies and what participants answer with the `assignments`. Uses `lessons`, whose inventory
it asks, and `rooms`, whose links to pages it takes, and `shares`.
"""
