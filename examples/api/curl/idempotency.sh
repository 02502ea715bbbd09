# A request that may be repeated: under its key it is answered once and charged once.
key=$(openssl rand -hex 16)
for attempt in 1 2; do
  curl -si "$BASE_URL/v1/chat/completions" \
    -H "Authorization: Bearer $API_KEY" \
    -H 'Content-Type: application/json' \
    -H "Idempotency-Key: $key" \
    -d '{"model": "qwen3-8b", "messages": [{"role": "user", "content": "Say hello."}]}' |
    grep -iE '^x-svc-(job-id|replayed)'
done
