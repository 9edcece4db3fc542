import type { ConversationReport, MessageList, ShownMessage } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { act, download } from '../gateway.ts';
import { hrefOf } from '../route.ts';
import { DataScope, useData, useOperation, useWork } from '../ui/data.tsx';
import { amount, counted, momentOf, spanOf } from '../ui/format.ts';
import {
  ActionButton,
  ConfirmButton,
  List,
  OutcomeNote,
  Said,
  Show,
  TextButton,
} from '../ui/widgets.tsx';
import { WhySheet } from '../why.tsx';
import { useGrowing } from './growing.ts';
import { placeOf, StateMark } from './marks.tsx';

/** What is said is asked for again this often, in ms. */
const POLL_INTERVAL_MS = 3_000;

interface SheetProps {
  readonly id: string;
  /** The message that a search found, and when it was said; null: the newest are shown. */
  readonly found: { readonly message: string; readonly at: string } | null;
}

/** One conversation: what is known of it, what can be done, and what was said. */
export function ConversationSheet({ id, found }: SheetProps): VNode {
  const report = useData<ConversationReport>(pathOf(id), POLL_INTERVAL_MS);
  return (
    <section class="sheet conversation-sheet" aria-label="Conversation">
      <Show data={report}>
        {(conversation) => (
          <>
            <Head report={conversation} />
            <Messages id={id} found={found} />
          </>
        )}
      </Show>
    </section>
  );
}

const pathOf = (id: string) => `/api/conversations/${encodeURIComponent(id)}`;

function Head({ report }: { readonly report: ConversationReport }): VNode {
  const { outcome, run } = useWork();
  const save = (path: string, name: string): void => run(() => download(path, name));
  const { title, failure, runningSince, now, agent, answeredBy, spent, files } = report;
  const cost = spent.costUsd > 0 ? `, $${spent.costUsd.toFixed(spent.costUsd < 1 ? 4 : 2)}` : '';
  return (
    <header class="entry-head">
      <h2>{title}</h2>
      <p>
        {placeOf(report)} <StateMark conversation={report} />
        {runningSince !== null && ` for ${spanOf(now - runningSince)}`}
      </p>
      {failure !== null && (
        <Said look="trouble">
          {momentOf(failure.at)}: {failure.reason}
        </Said>
      )}
      <p>
        {agent}{' '}
        {answeredBy === null ? 'has not answered yet.' : `answered last with ${answeredBy}.`} In 30
        days {counted(spent.turns, 'turn')}, {amount(spent.tokens)} tokens{cost}.
      </p>
      <Controls report={report} />
      {files.length > 0 && (
        <details class="conversation-files">
          <summary>{counted(files.length, 'file')}</summary>
          <List look="rows" of={files}>
            {({ kind, name, size, at, messageSeq, index, isKept }) => (
              <span key={`${messageSeq} ${index}`}>
                {name ?? kind}
                {size !== null && `, ${amount(Math.ceil(size / 1_024))} kB`}, {momentOf(at)}{' '}
                {isKept === 1 && (
                  <TextButton
                    label="Download"
                    onPress={() =>
                      save(`${pathOf(report.id)}/files/${messageSeq}/${index}`, name ?? kind)
                    }
                  />
                )}
              </span>
            )}
          </List>
          <OutcomeNote outcome={outcome} />
        </details>
      )}
    </header>
  );
}

const MODES = ['agent', 'ask', 'plan'] as const;

/** What the commands of a chat do. */
function Controls({ report }: { readonly report: ConversationReport }): VNode {
  const { id, mode, model, models, usualModel, state } = report;
  const { outcome, run } = useWork();
  const post = (body: object): void => run(() => act(pathOf(id), 'POST', body));
  const others = model === null || models.includes(model) ? models : [...models, model];
  return (
    <>
      <div class="actions conversation-controls">
        <label>
          Mode
          <select
            class="field"
            value={mode}
            onChange={({ currentTarget: { value } }) => post({ action: 'mode', mode: value })}
          >
            {MODES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Model
          <select
            class="field"
            value={model ?? ''}
            onChange={({ currentTarget: { value } }) =>
              post({ action: 'model', model: value === '' ? null : value })
            }
          >
            <option value="">{usualModel} (settings)</option>
            {others.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        {state !== 'idle' && (
          <ConfirmButton
            label="Stop"
            look="is-grave"
            question="What runs is stopped, and what waits is set aside."
            confirm="Stop it"
            onPress={() => post({ action: 'stop' })}
          />
        )}
        <ConfirmButton
          label="New session"
          question="Earlier messages are left out of the prompt from then on."
          confirm="Start a new session"
          onPress={() => post({ action: 'new' })}
        />
      </div>
      <OutcomeNote outcome={outcome} />
    </>
  );
}

function Messages({ id, found }: SheetProps): VNode {
  const query = found === null ? '' : `?until=${encodeURIComponent(found.at)}`;
  const data = useGrowing(`${pathOf(id)}/messages${query}`, POLL_INTERVAL_MS, readMessages, keyOf);
  const messages = [...(data.value ?? [])].sort(byTime);
  const list = useRef<HTMLOListElement>(null);
  useShownPlace(list, messages, found?.message ?? null);
  return (
    <Show data={data}>
      {() => (
        <>
          {data.older && (
            <p class="actions">
              <ActionButton label="Older messages" onPress={() => void data.older?.()} />
            </p>
          )}
          <ol class="said-list" ref={list} aria-label="Messages">
            {messages.map((message) => (
              <li
                key={message.id}
                id={message.id}
                tabIndex={-1}
                class={`said-message is-${message.direction} is-${message.state}`}
                aria-current={message.id === found?.message ? 'true' : undefined}
              >
                <Message message={message} />
              </li>
            ))}
          </ol>
          {found !== null && (
            <p class="actions">
              <a class="quiet" href={hrefOf('conversations', id)}>
                The newest messages
              </a>
            </p>
          )}
        </>
      )}
    </Show>
  );
}

function readMessages({ messages: items, next }: MessageList) {
  return { items, next };
}

const keyOf = ({ id }: ShownMessage) => id;

/** A question before its answer, where both were stored in one millisecond. */
function byTime(a: ShownMessage, b: ShownMessage): number {
  const order = a.at - b.at || a.direction.localeCompare(b.direction);
  return order || Number(a.id.slice(1)) - Number(b.id.slice(1));
}

/** Shows the end of the list, or the place that was found; when older ones are added, what was shown stays. */
function useShownPlace(
  list: { readonly current: HTMLOListElement | null },
  messages: readonly ShownMessage[],
  found: string | null,
): void {
  const before = useRef<{ readonly first: string; readonly last: string } | null>(null);
  const [first, last] = [messages[0]?.id, messages.at(-1)?.id];
  useLayoutEffect(() => {
    if (first === undefined || last === undefined) return;
    const shown = (id: string) => list.current?.querySelector(`#${id}`);
    const was = before.current;
    before.current = { first, last };
    if (was === null) {
      const place = (found === null ? null : shown(found)) ?? shown(last);
      place?.scrollIntoView({ block: found === null ? 'end' : 'center' });
    } else if (was.first !== first) {
      shown(was.first)?.scrollIntoView({ block: 'start' });
    } else if (was.last !== last && isNear(shown(was.last))) {
      shown(last)?.scrollIntoView({ block: 'nearest' });
    }
  }, [first, last]);
}

/** Whether the end of an element can be seen, or nearly. */
function isNear(element: Element | null | undefined): boolean {
  return element != null && element.getBoundingClientRect().bottom < innerHeight + 100;
}

const STATES: Readonly<Record<ShownMessage['state'], string>> = {
  waiting: 'waits',
  running: 'is being answered',
  answered: '',
  silent: 'answered by silence',
  failed: 'failed',
  stopped: 'stopped',
  withdrawn: 'withdrawn',
  replaced: 'replaced by a later message',
  command: '',
  pending: 'to be sent',
  sending: 'being sent',
  sent: '',
  unknown: 'may not have arrived',
};

/** What one side has said. */
function Message({ message }: { readonly message: ShownMessage }): VNode {
  const { direction, at, from, text, files, trigger, state, error, why } = message;
  const [isAsked, setAsked] = useState(false);
  const who = direction === 'out' ? 'Answer' : (from ?? `Parley (${trigger})`);
  return (
    <article aria-label={`${who}, ${momentOf(at)}`}>
      <p class="hint">
        <b>{who}</b> <time dateTime={new Date(at).toISOString()}>{momentOf(at)}</time>
        {STATES[state] !== '' && <b class={`mark is-${state}`}>{STATES[state]}</b>}
        {why !== null && (
          <TextButton label="Why" isExpanded={isAsked} onPress={() => setAsked(!isAsked)} />
        )}
      </p>
      {text !== '' && <Said look="said-text">{text}</Said>}
      {files.map(({ kind, name }, index) => (
        <p key={index} class="facts">
          {kind}
          {name !== null && `: ${name}`}
        </p>
      ))}
      {error !== null && state !== 'sent' && <Said look="facts">{error}</Said>}
      {isAsked && why !== null && (
        <DataScope>
          <Why why={why} text={text} />
        </DataScope>
      )}
    </article>
  );
}

/** Of the message, as the name of what happened to it. */
const FIRST_WORDS = 60;

function Why({ why, text }: { readonly why: string; readonly text: string }): VNode {
  const data = useOperation('why/message', { message: why });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [data.value]);
  const words = Array.from(text);
  const name = words.slice(0, FIRST_WORDS).join('');
  return (
    <div class="said-why" ref={box}>
      <Show data={data}>
        {(answer) => <WhySheet why={answer} of={words.length > FIRST_WORDS ? `${name}…` : name} />}
      </Show>
    </div>
  );
}
