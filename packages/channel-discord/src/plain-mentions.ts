const MARK = /<(?:(@[!&]?|#)(\d{1,20})|a?:(\w+):\d{1,20}|\/([^:<>\n]+):\d{1,20})>/g;

/**
 * Writes mentions as people see them: `<@7>` becomes `@Ann`, `<#8>` `#general`, `<:wave:9>` `:wave:`.
 * `users` are those a message mentions; `nameOf` knows roles and channels. Unknown ones stay.
 */
export function plainMentions(
  text: string,
  users: ReadonlyMap<string, string>,
  nameOf: (kind: 'role' | 'channel', id: string) => string | undefined,
): string {
  return text.replace(MARK, (mark, kind?: string, id = '', emoji?: string, command?: string) => {
    if (emoji !== undefined) return `:${emoji}:`;
    if (command !== undefined) return `/${command}`;
    const name =
      kind === '#' ? nameOf('channel', id) : kind === '@&' ? nameOf('role', id) : users.get(id);
    return name === undefined ? mark : `${kind === '#' ? '#' : '@'}${name}`;
  });
}
