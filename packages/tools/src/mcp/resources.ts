import type { ListedEntries } from './catalogue.ts';
import { toCleanLine } from './clean.ts';
import { type Block, toBlock, toStrings } from './schema/json-block.ts';

/** The maximum number of resources and templates listed; the others are only counted. */
const MAX_NAMED = 200;
const MAX_URI = 500;
const MAX_WORDS = 200;

/**
 * Formats the resources of a server: one line each, and one line about those that cannot be read.
 */
export function formatResources(resources: ListedEntries, templates: ListedEntries): string {
  return [
    ...listResourceLines('Resources:', resources, 'uri'),
    ...listResourceLines(
      'Forms of further addresses, with names in braces to fill in:',
      templates,
      'uriTemplate',
    ),
  ].join('\n');
}

function listResourceLines(
  title: string,
  { items, problem }: ListedEntries,
  key: string,
): readonly string[] {
  const lines = items.slice(0, MAX_NAMED).map((item) => formatResource(toBlock(item) ?? {}, key));
  const known = lines.filter((line) => line !== null);
  const unknown = lines.length - known.length;
  return [
    ...(known.length > 0 ? [title, ...known] : []),
    ...(unknown > 0 ? [`(${unknown} without an address: not listed)`] : []),
    ...(items.length > MAX_NAMED ? [`(${items.length - MAX_NAMED} more: not listed)`] : []),
    ...(problem === null ? [] : [`(${problem})`]),
  ];
}

/** Returns null for a resource without a URI, because it cannot be requested. */
function formatResource(item: Block, key: string): string | null {
  const [uri = ''] = toStrings(item[key]);
  if (uri === '' || uri.length > MAX_URI) return null;
  const [title = ''] = [...toStrings(item.title), ...toStrings(item.name)];
  const [description = ''] = toStrings(item.description);
  const [type = ''] = toStrings(item.mimeType);
  const size = typeof item.size === 'number' ? `${item.size} bytes` : '';
  const facts = [type, size].filter((fact) => fact !== '').join(', ');
  const words = [title, description].filter((part) => part !== '').join(': ');
  const about = toCleanLine(`${words}${facts === '' ? '' : ` (${facts})`}`, MAX_WORDS);
  return `- ${toCleanLine(uri, MAX_URI)}${about === '' ? '' : ` ${about}`}`;
}
