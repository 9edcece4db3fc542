import type { ShownSoul, SoulAction } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { act } from './gateway.ts';
import { hrefOf, type Route } from './route.ts';
import {
  ActionButton,
  EntryLink,
  listOf,
  OutcomeNote,
  p,
  SplitView,
  shown,
  useFresh,
  useWork,
} from './ui/widgets.ts';

interface SoulViewProps {
  readonly route: Extract<Route, { view: 'soul' }>;
}

/** SOUL.md: its versions, and proposals that the owner decides on (W06). */
export function SoulView({ route }: SoulViewProps): VNode {
  const { answer, refresh } = useFresh<{ readonly versions: readonly ShownSoul[] }>('/api/soul');
  const { isBusy, outcome, run } = useWork(refresh);
  const versions = answer.kind === 'here' ? answer.value.versions : [];
  const open = versions.find(({ can }) => can.includes('apply'));
  const chosen = route.version ?? open?.number ?? versions[0]?.number ?? null;
  const version = versions.find(({ number }) => number === chosen);
  const onAct = (action: SoulAction): void =>
    void run(
      async () =>
        (await act(`/api/soul/${chosen}/${action}`)) ?? { text: DONE[action], isTrouble: false },
    );
  return h(SplitView, {
    name: 'soul-view',
    title: 'SOUL.md',
    label: 'Versions',
    refresh,
    showsList: route.version === null,
    list: shown(answer, () => h(VersionList, { versions, chosen })),
    back: hrefOf({ view: 'soul', version: null }),
    sheet: [
      h(OutcomeNote, { outcome }),
      version && h(VersionSheet, { key: version.number, version, isBusy, onAct }),
    ],
  });
}

const DONE: Readonly<Record<SoulAction, string>> = {
  apply: 'Done. It is in use from the next message on.',
  veto: 'Done. It will not come into use.',
  rollback: 'Done. That text is in use again, as a new version.',
};

const MARKS: Readonly<Record<ShownSoul['state'], string>> = {
  applied: 'in use',
  passed: 'passed',
  proposed: 'evaluated…',
  refused: 'refused',
  vetoed: 'vetoed',
  replaced: '',
};

interface VersionListProps {
  readonly versions: readonly ShownSoul[];
  readonly chosen: number | null;
}

/** All versions, newest first; what is in use and what is open are marked. */
function VersionList({ versions, chosen }: VersionListProps): VNode {
  if (versions.length === 0) return p('nothing', NONE);
  return listOf('entry-list', versions, ({ number, name, state, reason, createdAt }) => {
    const href = hrefOf({ view: 'soul', version: number });
    const facts = { title: name, at: createdAt, facts: reason, isChosen: number === chosen };
    return h(EntryLink, { key: number, href, ...facts, look: `soul-${state}` }, MARKS[state]);
  });
}

const NONE = 'There is no SOUL.md yet. Write one into the workspace: it becomes the first version.';

interface VersionSheetProps {
  readonly version: ShownSoul;
  /** An action is under way; the buttons wait. */
  readonly isBusy: boolean;
  readonly onAct: (action: SoulAction) => void;
}

const LABELS: Readonly<Record<SoulAction, string>> = {
  apply: 'Use it now',
  veto: 'Veto it',
  rollback: 'Go back to this',
};

/** One version: state, findings, changes, text. Every text is shown as text. */
function VersionSheet({ version, isBusy, onAct }: VersionSheetProps): VNode {
  const { name, standing, score, origin, reason, can, findings, diff, basedOn, text } = version;
  return h(
    'div',
    { class: 'sheet soul-sheet' },
    h(
      'header',
      { class: 'entry-head' },
      h('h2', { class: 'title' }, name),
      h('p', null, h('b', null, sentence(standing)), ` ${sentence(origin)}`),
      h('p', null, `Evaluation: ${score}. Reason: ${reason}`),
    ),
    can.length > 0 &&
      p(
        'actions',
        can.map((action) =>
          h(ActionButton, {
            key: action,
            label: LABELS[action],
            look: LOOKS[action],
            isBusy,
            onPress: () => onAct(action),
          }),
        ),
      ),
    findings.length > 0 &&
      h(
        'section',
        { class: 'soul-findings', 'aria-label': 'Findings' },
        h('h3', null, 'Findings of the evaluation'),
        h(
          'ul',
          null,
          findings.map(({ words }, index) => h('li', { key: index }, words)),
        ),
      ),
    basedOn !== null &&
      h(
        'section',
        { 'aria-label': 'Changes' },
        h('h3', null, `Against version ${basedOn}`),
        h('pre', { class: 'layer-text soul-diff', tabIndex: 0, dir: 'auto' }, diffLines(diff)),
      ),
    h(
      'details',
      { class: 'soul-whole', open: basedOn === null },
      h('summary', null, 'The whole text'),
      h('pre', { class: 'layer-text', tabIndex: 0, dir: 'auto' }, text),
    ),
  );
}

const LOOKS: Readonly<Record<SoulAction, 'is-main' | 'is-grave' | ''>> = {
  apply: 'is-main',
  veto: 'is-grave',
  rollback: '',
};

function diffLines(diff: string): readonly VNode[] {
  if (diff === '') return [h('span', null, 'Nothing changes.')];
  return diff.split('\n').map((line, index) => {
    const kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
    return h(kind, { key: index }, `${line}\n`);
  });
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
