import { type Block, getOwnValue, toBlock } from './json-block.ts';

/** A schema whose top-level reference is resolved, and the references followed on the way. */
export interface ResolvedSchema {
  readonly node: Block;
  readonly within: readonly string[];
}

/** The longest chain of references that is followed. */
const MAX_STEPS = 20;
/** The most definitions searched for an anchor. */
const MAX_ANCHORS = 500;

/**
 * Resolves `$ref` and its variants at the top of this schema only. Keywords next to a reference
 * take precedence over its target. A circular reference, or one to another document, allows
 * anything.
 */
export function resolveSchema(
  said: unknown,
  root: Block,
  within: readonly string[],
): ResolvedSchema {
  let node = toBlock(said) ?? {};
  let seen = within;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const reference = getReference(node);
    if (reference === undefined) return { node, within: seen };
    const { $ref: _ref, $dynamicRef: _dynamic, $recursiveRef: _recursive, ...beside } = node;
    const target = seen.includes(reference) ? undefined : toBlock(resolvePointer(reference, root));
    node = { ...target, ...beside };
    seen = [...seen, reference];
  }
  return { node: {}, within: seen };
}

function getReference({ $ref, $dynamicRef, $recursiveRef }: Block): string | undefined {
  return [$ref, $dynamicRef, $recursiveRef].find((one) => typeof one === 'string');
}

function resolvePointer(reference: string, root: Block): unknown {
  if (!reference.startsWith('#')) return undefined;
  const fragment = decodeFragment(reference.slice(1));
  if (fragment === '') return root;
  if (!fragment.startsWith('/')) return findByAnchor(fragment, root);
  let found: unknown = root;
  for (const part of fragment.slice(1).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(found)) found = found[Number(key)];
    else found = getOwnValue(toBlock(found) ?? {}, key);
  }
  return found;
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

/** `#name` refers to a definition by its anchor; older drafts call it `id`. */
function findByAnchor(name: string, root: Block): unknown {
  const definitions = [root.$defs, root.definitions].flatMap((one) =>
    Object.values(toBlock(one) ?? {}),
  );
  return definitions.slice(0, MAX_ANCHORS).find((one) => {
    const { $anchor, $dynamicAnchor, $id, id } = toBlock(one) ?? {};
    return [$anchor, $dynamicAnchor].includes(name) || [$id, id].includes(`#${name}`);
  });
}
