{{- define "svc.labels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Settings by name; one that is empty is left out, so that its default holds. */}}
{{- define "svc.settings" -}}
{{- range $name, $value := . }}
{{- if ne (toString $value) "" }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{/* Each secret is a file, which the setting's name with _FILE points to. */}}
{{- define "svc.secretFiles" -}}
{{- range . }}
- { name: {{ . }}_FILE, value: /run/secrets/{{ . }} }
{{- end }}
{{- end }}

{{- define "svc.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: temporary
    emptyDir: { medium: Memory, sizeLimit: 64Mi }
  - name: secrets
    secret:
      secretName: {{ .secret }}
      # 0440, for the group of the pod.
      defaultMode: 288
      items:
        {{- range .secrets }}
        - { key: {{ if eq . "DATABASE_URL" }}{{ $.database }}{{ else }}{{ . }}{{ end }}, path: {{ . }} }
        {{- end }}
{{- end }}

{{- define "svc.container" -}}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: temporary, mountPath: /tmp }
  - { name: secrets, mountPath: /run/secrets, readOnly: true }
{{- end }}
