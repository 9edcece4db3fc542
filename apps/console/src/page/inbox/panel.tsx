import type { InputOf, OperationName, OutputOf } from '@parley/gateway/operations';
import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { download, runOperation } from '../gateway.ts';
import { DataScope, useActionRunner, useOperation } from '../ui/data.tsx';
import {
  formatAmount,
  formatCounted,
  formatFileSize,
  formatMoment,
  formatTimeOfDay,
} from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import {
  ConfirmButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
  TextButton,
} from '../ui/widgets.tsx';
import { formatCost } from '../usage/figures.ts';
import { ModeChoice, ModelChoice } from './answering.tsx';
import type { InboxState } from './inbox-state.ts';
import { LastMessageView } from './last-message.tsx';
import { ConversationPeople } from './people.tsx';
import { formatConversationLabel } from './rows.ts';

const TABS = ['Details', 'People', 'Why', 'Prompt', 'Files'] as const;

/** The panel tabs for the last message that has a trace. */
const ABOUT_LAST: readonly (typeof TABS)[number][] = ['Why', 'Prompt'];

interface PanelProps {
  readonly id: string;
  /** The title of the conversation in the inbox. */
  readonly title: string;
  readonly state: InboxState;
}

/**
 * The panel beside a conversation. It shows the mode, model, spending, people, files and latest
 * activity.
 */
export function ConversationPanel({ id, title, state }: PanelProps): VNode {
  const tab = useSignal<(typeof TABS)[number]>('Details');
  return (
    <aside class={`panel ${state.isPanelOpen.value ? 'is-open' : ''}`} aria-label="About this chat">
      <div class="panel-tabs" role="group" aria-label="Show">
        {TABS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={tab.value === one}
            onClick={() => (tab.value = one)}
          >
            {one}
          </button>
        ))}
        <button
          type="button"
          class="quiet panel-close"
          aria-label="Close the details"
          onClick={() => (state.isPanelOpen.value = false)}
        >
          <Icon name="close" />
        </button>
      </div>
      <DataScope key={id}>
        {tab.value === 'People' && <ConversationPeople id={id} />}
        {ABOUT_LAST.includes(tab.value) && (
          <LastMessageView id={id} isPrompt={tab.value === 'Prompt'} />
        )}
        {(tab.value === 'Details' || tab.value === 'Files') && (
          <KnownConversation id={id} title={title} isFiles={tab.value === 'Files'} />
        )}
      </DataScope>
    </aside>
  );
}

interface KnownProps extends Pick<PanelProps, 'id' | 'title'> {
  readonly isFiles: boolean;
}

function KnownConversation({ id, title, isFiles }: KnownProps): VNode {
  const report = useOperation('conversations/show', { id }, 'live');
  return (
    <DataContent data={report}>
      {(known) =>
        isFiles ? (
          <ConversationFiles report={known} />
        ) : (
          <ConversationDetails report={known} title={title} />
        )
      }
    </DataContent>
  );
}

type ConversationReport = OutputOf<'conversations/show'>;

interface DetailsProps extends Pick<PanelProps, 'title'> {
  readonly report: ConversationReport;
}

function ConversationDetails({ report, title }: DetailsProps): VNode {
  const { failure, runningSince, agent, answeredBy, spent } = report;
  return (
    <div class="stack panel-body">
      <p>
        <b>{title}</b> <span class="hint">{formatConversationLabel(report)}</span>
      </p>
      <p class="facts">
        {runningSince !== null &&
          `${agent} has been working since ${formatTimeOfDay(runningSince)}. `}
        {answeredBy === null
          ? `${agent} has not answered yet.`
          : `${agent} last answered with ${answeredBy}.`}
      </p>
      {failure !== null && (
        <OutsideText look="trouble">
          {formatMoment(failure.at)}: {failure.reason}
        </OutsideText>
      )}
      <dl class="sums" aria-label="Last 30 days">
        <div>
          <dt>Last 30 days</dt>
          <dd>{formatCounted(spent.turns, 'turn')}</dd>
        </div>
        <div>
          <dt>Tokens</dt>
          <dd>{formatAmount(spent.tokens)}</dd>
        </div>
        <div>
          <dt>Money</dt>
          <dd>{formatCost(spent)}</dd>
        </div>
      </dl>
      <ConversationControls report={report} />
    </div>
  );
}

/** Buttons for the commands of a chat. */
function ConversationControls({ report }: { readonly report: ConversationReport }): VNode {
  const { id, state } = report;
  const { outcome, run } = useActionRunner();
  const change = <Name extends OperationName>(name: Name, input: InputOf<Name>): void =>
    run(() => runOperation(name, input));
  return (
    <>
      <div class="fields">
        <ModeChoice
          mode={report.mode}
          onChoose={(mode) => change('conversations/set-mode', { id, mode })}
        />
        <ModelChoice
          of={report}
          onChoose={(model) => change('conversations/set-model', { id, model })}
        />
        {state !== 'idle' && (
          <ConfirmButton
            label="Stop"
            look="is-grave"
            question="This stops the running answer and sets waiting messages aside."
            confirm="Stop it"
            onPress={() => change('conversations/stop', { id })}
          />
        )}
        <ConfirmButton
          label="Clear context"
          question="Earlier messages stay here, but the agent no longer sees them."
          confirm="Clear it"
          onPress={() => change('conversations/new-session', { id })}
        />
      </div>
      <OutcomeNote outcome={outcome} />
    </>
  );
}

function ConversationFiles({
  report: { id, files },
}: {
  readonly report: ConversationReport;
}): VNode {
  const { outcome, run } = useActionRunner();
  const folder = `/api/conversations/${encodeURIComponent(id)}/files`;
  if (files.length === 0) return <p class="nothing">No files.</p>;
  return (
    <div class="stack panel-body">
      <List look="rows" of={files}>
        {({ kind, name, size, at, messageSeq, index, isKept }) => (
          <span key={`${messageSeq} ${index}`}>
            {name ?? kind}
            <span class="hint">
              {' '}
              {size !== null && `${formatFileSize(size)}, `}
              {formatMoment(at)}
            </span>{' '}
            {isKept === 1 && (
              <TextButton
                label="Download"
                onPress={() =>
                  run(() => download(`${folder}/${messageSeq}/${index}`, name ?? kind))
                }
              />
            )}
          </span>
        )}
      </List>
      <OutcomeNote outcome={outcome} />
    </div>
  );
}
