"""The operator API's edge: authentication, error translation, pagination, routes and schema."""
