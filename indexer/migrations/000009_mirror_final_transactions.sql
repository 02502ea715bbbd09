-- A list of a node that holds nothing is asked again and again for the newest that is final.
create index transactions_finalized_idx on transactions (slot) where commitment = 'finalized';
