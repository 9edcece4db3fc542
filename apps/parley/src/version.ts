import { BUILT_FROM, isBundle } from '@parley/core/installation';
import manifest from '../package.json' with { type: 'json' };

/** The oldest major version of Node that runs Parley; the launcher in `bin/` looks for one. */
export const NODE_NEEDED = 24;

export function versionFacts() {
  const { node, sqlite = 'of an unknown version' } = process.versions;
  return { parley: manifest.version, node, sqlite, from: builtFrom() };
}

/** The origin of this program, in brackets; empty where the build did not know. */
function builtFrom(): string {
  if (!isBundle) return ' (run from its sources)';
  return BUILT_FROM === '' ? '' : ` (commit ${BUILT_FROM})`;
}

/** The output of `parley --version`. */
export function versionText(): string {
  const { parley, node, from } = versionFacts();
  return `parley ${parley}${from}\nnode ${node}`;
}
