"""Alembic's entry point: the store passes the connection that it has opened."""

from alembic import context

from app.store.store import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
