import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { runOperation } from './gateway.ts';
import { type Route, toHref } from './route.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { capitalize } from './ui/format.ts';
import { EntryLink, SplitView } from './ui/frames.tsx';
import {
  ActionButton,
  DataContent,
  DiffLines,
  List,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type SoulVersions = OutputOf<'soul/list'>['versions'];
type ListedSoulVersion = SoulVersions[number];

/**
 * SOUL.md: its versions, and the proposals that the owner decides on (W06). Without a number in the
 * address, the list is shown.
 */
export function SoulView({ args: [number = ''] }: Route): VNode {
  const data = useOperation('soul/list', {});
  const work = useActionRunner();
  const versions = data.value?.versions ?? [];
  const asked = /^\d{1,9}$/.test(number) ? Number(number) : null;
  const open = versions.find(({ can }) => can.includes('apply'));
  const chosen = asked ?? open?.number ?? versions[0]?.number ?? null;
  const version = versions.find(({ number }) => number === chosen);
  return (
    <SplitView
      name="soul-view"
      title="SOUL.md"
      label="Versions"
      showsList={asked === null}
      list={
        <DataContent data={data}>
          {() => <VersionList versions={versions} chosen={chosen} />}
        </DataContent>
      }
      back={toHref('soul')}
    >
      <OutcomeNote outcome={work.outcome} />
      {data.value && !version && asked !== null && <p class="nothing">There is no such version.</p>}
      {version && <VersionSheet key={version.number} version={version} work={work} />}
    </SplitView>
  );
}

const ACTIONS = {
  apply: {
    label: 'Use it now',
    look: 'is-main',
    done: 'Done. It takes effect from the next message on.',
  },
  veto: { label: 'Veto it', look: 'is-grave', done: 'Done. It will not be used.' },
  rollback: {
    label: 'Restore this version',
    look: '',
    done: 'Done. That text is in use again, as a new version.',
  },
} as const satisfies Record<ListedSoulVersion['can'][number], object>;

const MARKS: Readonly<Record<ListedSoulVersion['state'], string>> = {
  applied: 'in use',
  passed: 'passed',
  proposed: 'evaluated…',
  refused: 'refused',
  vetoed: 'vetoed',
  replaced: '',
};

/** All versions, newest first, with marks on the current one and on open proposals. */
function VersionList(props: { versions: SoulVersions; chosen: number | null }): VNode {
  const { versions, chosen } = props;
  if (versions.length === 0) {
    return (
      <p class="nothing">
        There is no SOUL.md yet. Create one in the workspace, or run "parley soul propose FILE" to
        create the first version.
      </p>
    );
  }
  return (
    <List look="entry-list" of={versions}>
      {({ number, name, state, reason, createdAt }) => (
        <EntryLink
          key={number}
          href={toHref('soul', String(number))}
          title={name}
          at={createdAt}
          facts={reason}
          isChosen={number === chosen}
          look={`soul-${state}`}
        >
          {MARKS[state]}
        </EntryLink>
      )}
    </List>
  );
}

/**
 * One version: its state, findings, changes and text. A version's text is always shown as plain
 * text.
 */
function VersionSheet({
  version,
  work,
}: {
  version: ListedSoulVersion;
  work: ActionRunner;
}): VNode {
  const { number, name, status, score, origin, reason, can, findings, diff, basedOn, text } =
    version;
  const decide = (action: keyof typeof ACTIONS) =>
    runOperation(`soul/${action}`, { number }, () => ACTIONS[action].done);
  return (
    <div class="sheet soul-sheet">
      <header class="entry-head">
        <h2 class="title">{name}</h2>
        <p>
          <b>{capitalize(status)}.</b> {capitalize(origin)}.
        </p>
        <p>
          Evaluation: {score}. Reason: {reason}
        </p>
      </header>
      {can.length > 0 && (
        <p class="actions">
          {can.map((action) => (
            <ActionButton
              key={action}
              label={ACTIONS[action].label}
              look={ACTIONS[action].look}
              onPress={() => work.run(() => decide(action))}
            />
          ))}
        </p>
      )}
      {findings.length > 0 && (
        <section class="facts" aria-label="Findings">
          <h3>Evaluation findings</h3>
          <ul>
            {findings.map(({ text }, index) => (
              <li key={index}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      {basedOn !== null && (
        <Section title={`Against version ${basedOn}`}>
          <DiffLines lines={diff} />
        </Section>
      )}
      <details open={basedOn === null}>
        <summary>Full text</summary>
        <OutsideText as="pre" look="layer-text">
          {text}
        </OutsideText>
      </details>
    </div>
  );
}
