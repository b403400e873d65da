"""Assignments: ordered lists of questions, and what was answered."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.String(13), primary_key=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("owner_key", sa.LargeBinary, nullable=False),
        sa.Column("address", sa.LargeBinary),
    )
    op.create_index("ix_assignments_changed", "assignments", ["changed"])
    op.create_index("ix_assignments_address", "assignments", ["address", "size"])
    op.create_table(
        "submissions",
        sa.Column("assignment", sa.String(13), sa.ForeignKey("assignments.id"), primary_key=True),
        sa.Column("member", sa.LargeBinary, primary_key=True),
        sa.Column("sent", sa.DateTime(timezone=True), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("submissions")
    op.drop_table("assignments")
