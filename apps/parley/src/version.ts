import { BUILT_FROM, isBundle } from '@parley/core/installation';
import manifest from '../package.json' with { type: 'json' };

/**
 * The oldest major version of Node that can run Parley; the launcher in `bin/` looks for such a
 * version.
 */
export const NODE_NEEDED = 24;

export function getVersionInfo() {
  const { node, sqlite = 'with an unknown version' } = process.versions;
  return { parley: manifest.version, node, sqlite, from: describeBuild() };
}

/** Returns the origin of this build in parentheses; empty if the build did not record it. */
function describeBuild(): string {
  if (!isBundle) return ' (running from the sources)';
  return BUILT_FROM === '' ? '' : ` (commit ${BUILT_FROM})`;
}

export function formatVersion(): string {
  const { parley, node, from } = getVersionInfo();
  return `parley ${parley}${from}\nnode ${node}`;
}
