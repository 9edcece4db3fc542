import { createHash } from 'node:crypto';

/** What the strictest provider takes. */
const LONGEST = 64;
const MARK = 6;

/**
 * The names that the tools of one server get: `server_tool`, in a–z, 0–9 and _. Where that is too long,
 * or two of them come out the same, a mark made from the original name tells them apart: the same mark
 * at every start. No other server can come to the same name, because server names have no underscore.
 */
export function toolNames(
  server: string,
  originals: readonly string[],
): ReadonlyMap<string, string> {
  const plain = originals.map((original) => [original, plainName(server, original)] as const);
  const count = new Map<string, number>();
  for (const [, name] of plain) count.set(name, (count.get(name) ?? 0) + 1);
  return new Map(
    plain.map(([original, name]) => {
      const isFine = name.length <= LONGEST && count.get(name) === 1;
      return [original, isFine ? name : marked(name, original)];
    }),
  );
}

function plainName(server: string, original: string): string {
  const words = original
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  return `${server}_${words === '' ? 'tool' : words}`;
}

function marked(name: string, original: string): string {
  const mark = createHash('sha256').update(original).digest('hex').slice(0, MARK);
  return `${name.slice(0, LONGEST - MARK - 1)}_${mark}`;
}
