# curl: plain and streamed.
set -eu
ask() {
  curl -sS --fail-with-body "$BASE_URL/v1/chat/completions" -H "Authorization: Bearer $API_KEY" \
    -H 'Content-Type: application/json' \
    -d '{"model": "'"$MODEL"'", "stream": '"$1"', "messages": [{"role": "user", "content": "Say hello."}]}'
}
ask false | grep -q '"content":"Good morning."'
ask true | tail -n 2 | grep -qx 'data: \[DONE\]'
