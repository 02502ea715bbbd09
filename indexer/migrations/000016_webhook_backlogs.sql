-- What lies at each webhook, by its state: the delivered ones, of which there may be millions, aside.
create index webhook_deliveries_backlog_idx
  on service.webhook_deliveries (webhook_id, status, id)
  where status <> 'delivered';
