/**
 * Where a file can be fetched, from what getFile told; undefined when that leads nowhere a bot may
 * go: a server in local mode names a path on its own disk, and nothing there is read.
 */
export function fileAddress(apiRoot: string, token: string, path: string): URL | undefined {
  const steps = path.split('/');
  const strange = steps.some((step) => step === '' || step === '.' || step === '..');
  if (strange || path.includes('\\')) return undefined;
  const root = apiRoot.endsWith('/') ? apiRoot : `${apiRoot}/`;
  return new URL(`file/bot${token}/${steps.map(encodeURIComponent).join('/')}`, root);
}
