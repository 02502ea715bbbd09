// `npm run generate`: writes every committed file that is made from others. With `-- --check` each
// generator writes nothing and fails where a file differs.
// One after the other: the reference reads the IDL, and the settings load the generated constants.
await import('../programs/tools/idl.ts');
await import('../programs/tools/reference.ts');
await import('./settings.ts');
await import('./webhookEvents.ts');
