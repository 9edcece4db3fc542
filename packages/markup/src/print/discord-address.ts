const ADDRESS = /(?:https?|steam):\/\/[^\s<]+[^<.,:;"'\]\s]/y;

/** Where the address ends that Discord finds at this place of a text; `at` itself if it finds none. */
export function addressEnd(text: string, at: number): number {
  ADDRESS.lastIndex = at;
  const found = ADDRESS.exec(text)?.[0];
  if (found === undefined) return at;
  // A closing parenthesis at the end belongs to it only if an opening one does.
  let from = 0;
  for (let last = found.length - 1; found[last] === ')'; last -= 1) {
    const opening = found.indexOf('(', from);
    if (opening < 0) return at + found.length - 1;
    from = opening + 1;
  }
  return at + found.length;
}

/** Whether Discord shows a link for this address at all. */
export function isReadable(url: string): boolean {
  if (/[\p{Cf}\p{Z}\p{Cc}<>]/u.test(url) || !URL.canParse(url)) return false;
  const [scheme = '', empty, host = ''] = url.split('/');
  return /^https?:$/.test(scheme) && empty === '' && host !== '' && !host.includes('%');
}

/** The address with everything encoded that would end it, or a mark round it, too early. */
export function maskable(url: string): string {
  const encoded = url
    // Browsers read a backslash in an address as a slash.
    .replaceAll('\\', '/')
    .replaceAll(/[\p{Cf}\p{Z}\p{Cc}<>"'*`|]/gu, percent)
    .replaceAll('__', '_%5F')
    .replaceAll('~~', '~%7E')
    .replaceAll('](', '%5D(')
    // Discord's servers look for these in addresses too.
    .replaceAll(/@(?=everyone|here)/g, percent);
  return hasPairedParentheses(encoded) ? encoded : encoded.replaceAll(/[()]/g, percent);
}

function percent(character: string): string {
  const bytes = Buffer.from(character);
  return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** Discord takes a pair as part of an address, but no pair in a pair. */
function hasPairedParentheses(url: string): boolean {
  let open = false;
  for (const character of url) {
    if (character === '(' && open) return false;
    if (character === ')' && !open) return false;
    if (character === '(' || character === ')') open = character === '(';
  }
  return !open;
}
