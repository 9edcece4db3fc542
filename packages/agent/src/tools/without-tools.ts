import type { ToolSet } from './tool-registry.ts';

/** A set of tools without some of them. */
export function withoutTools(set: ToolSet, isLeftOut: (name: string) => boolean): ToolSet {
  const stays = ({ name }: { readonly name: string }) => !isLeftOut(name);
  return {
    get: (name) => (isLeftOut(name) ? undefined : set.get(name)),
    names: set.names.filter((name) => !isLeftOut(name)),
    notes: set.notes.filter(stays),
    offered: set.offered.filter(stays),
    foreign: set.foreign,
  };
}
