# A webhook at WEBHOOK_URL. Only this answer shows its secret, which the receiver needs.
curl -s "$BASE_URL/v1/webhooks" \
  -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d "{\"url\": \"$WEBHOOK_URL\", \"events\": [\"job.completed\", \"credit.low\"]}"
