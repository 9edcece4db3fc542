import type { PhrasingContent } from 'mdast';
import type { DialectCapabilities } from '../capabilities.ts';
import type { Mark, Run } from '../document.ts';
import { isLinkable, withAddresses } from './links.ts';
import { markSpoilers } from './spoilers.ts';

/** What inline content needs to know besides itself. */
export interface InlineContext {
  readonly capabilities: DialectCapabilities;
  /** Address by definition identifier. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** Flattens inline nodes into runs that carry only what the dialect can show. */
export function toRuns(nodes: readonly PhrasingContent[], context: InlineContext): Run[] {
  const runs = markSpoilers(nodes.flatMap((node) => inline(node, [], context)));
  return joinEqual(runs.map((run) => ({ ...run, marks: allowed(run.marks, context) })));
}

function inline(node: PhrasingContent, marks: readonly Mark[], context: InlineContext): Run[] {
  const inside = (mark: Mark, children: readonly PhrasingContent[]) =>
    children.flatMap((child) => inline(child, add(marks, mark), context));
  switch (node.type) {
    case 'text':
    case 'html':
      return [{ text: node.value, marks }];
    case 'inlineCode':
      return [{ text: node.value, marks: add(marks, { type: 'code' }) }];
    case 'break':
      return [{ text: '\n', marks }];
    case 'strong':
      return inside({ type: 'bold' }, node.children);
    case 'emphasis':
      return inside({ type: 'italic' }, node.children);
    case 'delete':
      return inside({ type: 'strike' }, node.children);
    case 'link':
      return link(node.url, node.children, marks, context);
    case 'linkReference':
      return link(context.addresses.get(node.identifier) ?? '', node.children, marks, context);
    case 'image':
      return image(node.url, node.alt, marks, context);
    case 'imageReference':
      return image(context.addresses.get(node.identifier) ?? '', node.alt, marks, context);
    case 'footnoteReference':
      return [{ text: `[${node.label ?? node.identifier}]`, marks }];
  }
}

function link(
  url: string,
  children: readonly PhrasingContent[],
  marks: readonly Mark[],
  context: InlineContext,
): Run[] {
  const mark: Mark = { type: 'link', url };
  const runs = children.flatMap((child) => inline(child, add(marks, mark), context));
  const shown = runs.some(({ text }) => text.trim() !== '')
    ? runs
    : [{ text: url, marks: add(marks, mark) }];
  const rule = context.capabilities.links;
  return rule === undefined || isLinkable(url, rule) ? shown : withAddresses(shown);
}

/** An image is a link to it, named by its alternative text; inside a link only the name is left. */
function image(
  url: string,
  alt: string | null | undefined,
  marks: readonly Mark[],
  context: InlineContext,
): Run[] {
  const value = alt?.trim() ? alt : url;
  if (marks.some(({ type }) => type === 'link')) return [{ text: value, marks }];
  return link(url, [{ type: 'text', value }], marks, context);
}

function add(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  return marks.some(({ type }) => type === mark.type) ? marks : [...marks, mark];
}

function allowed(marks: readonly Mark[], { capabilities }: InlineContext): readonly Mark[] {
  if (capabilities.marksOnCode || !marks.some(({ type }) => type === 'code')) return marks;
  const linked = marks.some(({ type }) => type === 'link');
  // A link's address is content, the code font is not.
  return marks.filter(({ type }) => (linked ? type !== 'code' : type === 'code'));
}

/** Puts a mark round everything, under the dialect's rules. */
export function markAll(runs: readonly Run[], mark: Mark, context: InlineContext): Run[] {
  return runs.map(({ text, marks }) => {
    const others = marks.filter(({ type }) => type !== mark.type);
    return { text, marks: allowed([mark, ...others], context) };
  });
}

/** Neighbours with the same marks become one run. */
function joinEqual(runs: readonly Run[]): Run[] {
  const joined: Run[] = [];
  for (const run of runs) {
    const last = joined.at(-1);
    if (run.text === '') continue;
    if (last !== undefined && sameMarks(last.marks, run.marks)) {
      joined[joined.length - 1] = { text: last.text + run.text, marks: last.marks };
    } else joined.push(run);
  }
  return joined;
}

function sameMarks(a: readonly Mark[], b: readonly Mark[]): boolean {
  return a.length === b.length && a.every((mark, index) => sameMark(mark, b[index]));
}

/** Two links are the same only if they are one link of the source. */
export function sameMark(a: Mark, b: Mark | undefined): boolean {
  return a === b || (a.type !== 'link' && a.type === b?.type);
}
