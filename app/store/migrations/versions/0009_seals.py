"""Seals of collections, of assignments and of the answers to them; the addresses of the latter."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

COLUMNS = (
    ("collections", "seal"),
    ("assignments", "seal"),
    ("submissions", "address"),
    ("submissions", "seal"),
)


def upgrade() -> None:
    for table, name in COLUMNS:
        op.add_column(table, sa.Column(name, sa.LargeBinary))


def downgrade() -> None:
    for table, name in COLUMNS:
        op.drop_column(table, name)
