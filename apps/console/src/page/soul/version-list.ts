import { h, type VNode } from 'preact';
import { hrefOf } from '../route.ts';
import { momentOf } from '../ui/moment.ts';
import type { SoulVersion } from './read-soul.ts';

interface VersionListProps {
  readonly versions: readonly SoulVersion[];
  /** The number of the version that is shown beside the list. */
  readonly chosen: number | null;
}

/** All versions, newest first; what is in use and what is open are marked. */
export function VersionList({ versions, chosen }: VersionListProps): VNode {
  return h(
    'div',
    { class: 'turn-list' },
    h(
      'ul',
      null,
      versions.map((version) =>
        h(
          'li',
          { key: version.number },
          h(VersionLink, { version, isChosen: version.number === chosen }),
        ),
      ),
    ),
  );
}

const MARKS: Readonly<Record<string, string>> = {
  applied: 'in use',
  passed: 'passed',
  proposed: 'evaluated…',
  refused: 'refused',
  vetoed: 'vetoed',
};

function VersionLink({ version, isChosen }: { version: SoulVersion; isChosen: boolean }): VNode {
  const { number, name, state, reason, createdAt } = version;
  return h(
    'a',
    {
      href: hrefOf({ view: 'soul', version: number }),
      class: `turn-link soul-${state}`,
      'aria-current': isChosen ? 'true' : undefined,
    },
    h('span', { class: 'turn-where' }, name),
    h('time', { dateTime: new Date(createdAt).toISOString() }, momentOf(createdAt)),
    h('span', { class: 'turn-facts' }, reason),
    h('span', { class: 'soul-mark' }, MARKS[state] ?? ''),
  );
}
