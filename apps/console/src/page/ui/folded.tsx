import { Fragment, type VNode } from 'preact';
import { formatCounted } from './format.ts';

/**
 * `rewound`: no longer in the history that the model reads (G23). `beside`: in no history, as a
 * command is.
 */
type FoldState = 'shown' | 'rewound' | 'beside';

export interface ShownEntry {
  readonly key: string;
  readonly state: FoldState;
  readonly node: VNode;
}

interface FoldedProps {
  readonly entries: readonly ShownEntry[];
  /** Set if the entries are items of a list. */
  readonly foldIn?: 'li';
}

/** Entries with each run of rewound ones folded into one line. */
export function FoldedEntries({ entries, foldIn }: FoldedProps): VNode {
  return (
    <>
      {groupRewound(entries, ({ state }) => state).map(({ isRewound, entries: group }) => {
        const nodes = group.map(({ key, node }) => <Fragment key={key}>{node}</Fragment>);
        if (!isRewound) return nodes;
        const key = `rewound ${group[0]?.key}`;
        const count = group.filter(({ state }) => state === 'rewound').length;
        const summary = <summary>{formatCounted(count, 'message')} rewound</summary>;
        return foldIn === undefined ? (
          <details class="rewound" key={key}>
            {summary}
            {nodes}
          </details>
        ) : (
          <li key={key}>
            <details class="rewound">
              {summary}
              <ol class="said-list">{nodes}</ol>
            </details>
          </li>
        );
      })}
    </>
  );
}

interface EntryGroup<Entry> {
  readonly isRewound: boolean;
  readonly entries: readonly Entry[];
}

/** Groups entries into runs; what stands between two rewound entries is folded with them. */
export function groupRewound<Entry>(
  entries: readonly Entry[],
  stateOf: (entry: Entry) => FoldState,
): readonly EntryGroup<Entry>[] {
  const groups: { isRewound: boolean; entries: Entry[] }[] = [];
  let between: Entry[] = [];
  const add = (isRewound: boolean, added: readonly Entry[]): void => {
    const last = groups.at(-1);
    if (last?.isRewound === isRewound) last.entries.push(...added);
    else if (added.length > 0) groups.push({ isRewound, entries: [...added] });
  };
  for (const entry of entries) {
    const state = stateOf(entry);
    if (state === 'beside' && groups.at(-1)?.isRewound) between.push(entry);
    else {
      add(state === 'rewound', state === 'rewound' ? [...between, entry] : []);
      if (state !== 'rewound') add(false, [...between, entry]);
      between = [];
    }
  }
  add(false, between);
  return groups;
}
