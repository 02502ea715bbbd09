# A job with its ledger record: JOB_ID is the x-svc-job-id of a completion.
curl -s "$BASE_URL/v1/jobs/$JOB_ID" -H "Authorization: Bearer $API_KEY"

# The last settled jobs, and the balance.
curl -s "$BASE_URL/v1/jobs?status=settled&limit=5" -H "Authorization: Bearer $API_KEY"
curl -s "$BASE_URL/v1/account" -H "Authorization: Bearer $API_KEY"
