# curl: plain and streamed, with a tool, and saved with and without headers.
set -eu
ask() {
  curl -sS --fail-with-body "$BASE_URL/v1/chat/completions" -H "Authorization: Bearer $API_KEY" \
    -H 'Content-Type: application/json' \
    -d '{"model": "'"$MODEL"'", "stream": '"$1"', "messages": [{"role": "user", "content": "Say hello."}]}'
}
ask false | grep -q '"content":"Good morning."'
ask true | tail -n 2 | grep -qx 'data: \[DONE\]'
weather='{"type": "function", "function": {"name": "weather"}}'
curl -sS --fail-with-body "$BASE_URL/v1/chat/completions" -H "Authorization: Bearer $API_KEY" \
  -H 'Content-Type: application/json' \
  -d '{"model": "'"$MODEL"'", "messages": [{"role": "user", "content": "How warm is Basel?"}],
       "tools": ['"$weather"']}' | grep -q '"finish_reason":"tool_calls"'
save() {
  name=$1
  shift
  printf '{"model": "%s", "stream": %s, "messages": [{"role": "user", "content": "Say hello."}]}' \
    "$MODEL" "$1" > "$SAVED/$name.request"
  shift
  curl -sS --fail-with-body "$BASE_URL/v1/chat/completions" -H "Authorization: Bearer $API_KEY" \
    -H 'Content-Type: application/json' -d "@$SAVED/$name.request" -o "$SAVED/$name.answer" "$@"
}
save plain false
save stream true
save with-headers true --include
