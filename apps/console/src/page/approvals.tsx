import type { InputOf, OutputOf } from '@parley/gateway/operations';
import { Fragment, type VNode } from 'preact';
import { useRowAgents } from './agents.tsx';
import {
  CallApproval,
  FullText,
  getChatLabel,
  getRequesterName,
  type WaitingApproval,
} from './asked-call.tsx';
import { runOperation } from './gateway.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatMoment } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { useGrowingList } from './ui/growing.ts';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  List,
  OlderButton,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type ApprovalList = OutputOf<'approvals/list'>;
type ListedApproval = ApprovalList['approvals'][number];
type AgentFileSummary = OutputOf<'approvals/files'>['files'][number];

/**
 * The decisions that the owner has to make about tool calls (G05) and files written by agents
 * (W09), followed by past decisions.
 */
export function ApprovalsView(): VNode {
  const waiting = useOperation('approvals/waiting', {}, 'live');
  const files = useOperation('approvals/files', {}, 'live');
  const rules = useOperation('approvals/rules', {});
  const { outcome, run } = useActionRunner();
  const { isShown, ofOne, chosen } = useRowAgents();
  return (
    <ColumnView name="approvals-view" title="Approvals">
      <OutcomeNote outcome={outcome} />
      <Section title="Waiting for you">
        <DataContent data={waiting}>
          {({ approvals }) => {
            const shown = approvals.filter(({ conversationId }) => isShown(conversationId));
            return shown.length === 0 ? (
              <p class="facts">
                Nothing{chosen && ` from ${chosen.title}`} is waiting for your decision.
              </p>
            ) : (
              <List look="cards" of={shown}>
                {(one) => <ApprovalQuestionCard key={one.code} asked={one} run={run} />}
              </List>
            );
          }}
        </DataContent>
      </Section>
      <Section title={ofOne('Files written by the agent')}>
        <DataContent data={files}>
          {(found) => <FileList files={found.files} run={run} />}
        </DataContent>
      </Section>
      <Section title={ofOne('Always allowed')}>
        <DataContent data={rules}>
          {(found) => <RuleList rules={found.rules} run={run} />}
        </DataContent>
      </Section>
      <PastDecisions />
    </ColumnView>
  );
}

interface ApprovalRun {
  readonly run: ActionRunner['run'];
}

const answerText = ({ text }: { readonly text: string }) => text;

/** A tool call waiting for a decision, with its buttons. */
function ApprovalQuestionCard({ asked, run }: { readonly asked: WaitingApproval } & ApprovalRun) {
  const { code, tool, rule } = asked;
  const decide = (decision: InputOf<'approvals/decide'>['decision']) => () =>
    run(() => runOperation('approvals/decide', { code, decision }, answerText));
  const name = `${tool} for ${getRequesterName(asked)}`;
  return (
    <article class="card" aria-label={name}>
      <CallApproval asked={asked} />
      <div class="actions">
        <ActionButton
          label="Allow once"
          name={`Allow once: ${name}`}
          look="is-main"
          onPress={decide('once')}
        />
        {rule !== null && (
          <ConfirmButton
            label="Always allow"
            name={`Always allow: ${name}`}
            question={`Calls like ${rule} will run without asking, in every chat, whatever else they contain.`}
            confirm="Always allow"
            onPress={decide('always')}
          />
        )}
        <ActionButton label="Refuse" name={`Refuse: ${name}`} onPress={decide('refuse')} />
      </div>
    </article>
  );
}

/** Files that only the owner can read until they are shared. */
function FileList({
  files,
  run,
}: { readonly files: readonly AgentFileSummary[] } & ApprovalRun): VNode {
  if (files.length === 0) return <p class="facts">No files to review.</p>;
  return (
    <>
      <p class="facts">
        The agent wrote these files where it could see private information. Only you can read them
        until you open them to others.
      </p>
      <List look="cards" of={files}>
        {(file) => <AgentFile key={file.name} file={file} run={run} />}
      </List>
    </>
  );
}

function AgentFile({ file, run }: { readonly file: AgentFileSummary } & ApprovalRun): VNode {
  const { name, print, writtenIn, changedAt, shown, canOpen } = file;
  const decide = (decision: InputOf<'approvals/settle-file'>['decision']) => () =>
    run(() => runOperation('approvals/settle-file', { name, print, decision }, answerText));
  return (
    <article class="card" aria-label={name}>
      <h4>{name}</h4>
      <p class="facts">
        {formatMoment(changedAt)}
        {writtenIn !== null && `, written in the conversation with ${writtenIn}`}
      </p>
      <FullText title="Full text" text={shown} />
      {!canOpen && (
        <p class="facts">
          Opening this file would open all files of its skill. Review them, then remove “audience:
          owner” from the skill's SKILL.md.
        </p>
      )}
      <div class="actions">
        {canOpen && (
          <ConfirmButton
            label="Open"
            name={`Open: ${name}`}
            question="After that, anyone who may write to the agent, including people in groups, can have it read the file."
            confirm="Open it"
            onPress={decide('open')}
          />
        )}
        <ActionButton
          label="Keep private"
          name={`Keep private: ${name}`}
          onPress={decide('keep')}
        />
      </div>
    </article>
  );
}

function RuleList({ rules, run }: { readonly rules: readonly string[] } & ApprovalRun): VNode {
  const revoke = (rule: string) => () =>
    run(() => runOperation('approvals/revoke-rule', { rule }, answerText));
  if (rules.length === 0)
    return <p class="facts">Nothing is always allowed; you are asked every time.</p>;
  return (
    <List look="cards" of={rules}>
      {(rule) => (
        <div key={rule} class="actions">
          <code>{rule}</code>
          <ActionButton label="Revoke" name={`Revoke: ${rule}`} onPress={revoke(rule)} />
        </div>
      )}
    </List>
  );
}

const STATES: Readonly<Record<ListedApproval['state'], string>> = {
  pending: 'not answered in time',
  approved: 'allowed',
  denied: 'refused',
  answered: 'answered',
  expired: 'not answered in time',
  withdrawn: 'stopped',
  auto: 'allowed by a rule',
};

const RESULTS = { done: '; the call worked', failed: '; the call failed' } as const;

function PastDecisions(): VNode {
  const past = useGrowingList(
    'approvals/list',
    { limit: 20 },
    undefined,
    toPastDecisionPage,
    ({ code }) => code,
  );
  const { isShown } = useRowAgents();
  return (
    <Section title="Decided">
      <DataContent data={past}>
        {(approvals) =>
          approvals.length === 0 ? (
            <p class="facts">Nothing yet.</p>
          ) : (
            <List
              look="rows"
              of={approvals.filter(({ conversationId }) => isShown(conversationId))}
            >
              {(one) => <PastDecision key={one.code} decided={one} />}
            </List>
          )
        }
      </DataContent>
      <OlderButton label="Older decisions" older={past.older} />
    </Section>
  );
}

/** Past decisions, excluding the pending ones shown above. */
function toPastDecisionPage({ now, approvals, next }: ApprovalList) {
  const isOver = ({ state, expiresAt }: ListedApproval) => state !== 'pending' || expiresAt <= now;
  return { items: approvals.filter(isOver), next };
}

function PastDecision({ decided }: { readonly decided: ListedApproval }): VNode {
  const { tool, text, shown, state, result, askedAt, decidedAt } = decided;
  const agent = useRowAgents().titleOf(decided.conversationId);
  return (
    <Fragment>
      <b>{tool}</b>
      <span class={`tone is-${state}`}>
        {STATES[state]}
        {getDecider(decided)}
        {result !== null && RESULTS[result]}
      </span>
      <time>{formatMoment(decidedAt ?? askedAt)}</time>
      <details>
        <summary>
          {getRequesterName(decided)}
          {getChatLabel(decided)}
          {agent !== null && ` · ${agent}`}
          {text !== '' && `: ${text}`}
        </summary>
        <OutsideText as="pre" look="layer-text">
          {shown}
        </OutsideText>
      </details>
    </Fragment>
  );
}

function getDecider({ decidedBy, decider }: ListedApproval): string {
  if (decidedBy === null) return '';
  const [, name] = /^console:(.*)$/.exec(decidedBy) ?? [];
  if (name !== undefined) return ` by ${name === 'owner' ? 'the owner' : name}, on the page`;
  if (decidedBy === 'web:owner') return ' by the owner, in the chat on the page';
  return ` by ${decider ?? decidedBy}`;
}
