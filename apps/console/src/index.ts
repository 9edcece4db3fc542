/** Serves the page's files. */
export function servePage(path: string): Response {
  return new Response(`no page yet: ${path}\n`, { status: 404 });
}
