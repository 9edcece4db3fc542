import type { WebFile } from '@parley/channels/web';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { MessageFiles } from '../chat/files.tsx';
import { type Route, toHref } from '../route.ts';
import { DataScope, useOperation } from '../ui/data.tsx';
import { FoldedEntries, type ShownEntry } from '../ui/folded.tsx';
import { formatDay, formatMoment, formatTimeOfDay } from '../ui/format.ts';
import { useGrowingList } from '../ui/growing.ts';
import { HtmlBlock } from '../ui/html-block.tsx';
import { DataContent, OlderButton, OutsideText, TextButton } from '../ui/widgets.tsx';
import { WhySheet } from '../why.tsx';
import { ReplyArea } from './reply.tsx';
import { ReturnTo, RewindNote, type RewindReport } from './rewinding.tsx';

type ListedMessage = OutputOf<'conversations/messages'>['messages'][number];

interface ConversationProps {
  readonly id: string;
  /** The message to show from a search, and its time; null to show the newest messages. */
  readonly found: { readonly message: string; readonly at: number } | null;
}

/**
 * A conversation on any channel (U08): `#/conversations/ID`, or
 * `#/conversations/ID/at/MESSAGE/TIME` for a search result.
 */
export function ConversationView({ args: [id = '', , message = '', at = ''] }: Route): VNode {
  if (id === '') {
    return (
      // On the page without a conversation, the list is the main element.
      <section class="talk" aria-label="Conversation">
        <p class="nothing">Select a conversation. Reading it doesn't send anything.</p>
      </section>
    );
  }
  return (
    <main class="talk">
      <h2 class="visually-hidden">Messages</h2>
      <DataScope key={`${id} ${message}`}>
        <ConversationMessages
          id={id}
          found={message === '' ? null : { message, at: Number(at) || 0 }}
        />
        <ConversationReply id={id} />
      </DataScope>
    </main>
  );
}

/** The reply field, shown once it is known who is answering the conversation. */
function ConversationReply({ id }: Pick<ConversationProps, 'id'>): VNode | null {
  const report = useOperation('conversations/show', { id }, 'live').value;
  return report === undefined ? null : <ReplyArea report={report} />;
}

function ConversationMessages({ id, found }: ConversationProps): VNode {
  const input = { id, until: found?.at };
  const data = useGrowingList('conversations/messages', input, 'live', toMessagePage, keyOf);
  // Only the first part of an answer is kept, because it already shows the whole answer.
  const messages = [...(data.value ?? [])].sort(compareByTime).filter(isDisplayed);
  const list = useRef<HTMLOListElement>(null);
  const [report, setReport] = useState<RewindReport | null>(null);
  useScrollPosition(list, messages, found?.message ?? null);
  const entries = messages.map((message, nth): ShownEntry => {
    const { id: key, history, direction, state } = message;
    const node = (
      <li
        id={key}
        tabIndex={-1}
        class={`said-message is-${direction} is-${state}`}
        aria-current={key === found?.message ? 'true' : undefined}
      >
        {isNewDay(message, messages[nth - 1]) && (
          <p class="day hint">{formatDay(message.at, Date.now())}</p>
        )}
        <Message conversation={id} message={message} onRewound={setReport} />
      </li>
    );
    return { key, state: history === null ? 'beside' : FOLDS[history], node };
  });
  return (
    <div class="scroller" tabIndex={0} role="region" aria-label="Conversation">
      <div class="column">
        <DataContent data={data}>
          {() => (
            <>
              <OlderButton label="Older messages" older={data.older} />
              <ol class="said-list" ref={list} aria-label="Messages">
                <FoldedEntries entries={entries} foldIn="li" />
              </ol>
              {report !== null && <RewindNote report={report} />}
              {found !== null && (
                <p class="actions">
                  <a class="quiet" href={toHref('conversations', id)}>
                    Newest messages
                  </a>
                </p>
              )}
            </>
          )}
        </DataContent>
      </div>
    </div>
  );
}

const FOLDS = { now: 'shown', rewound: 'rewound' } as const;

function isDisplayed({ html, files, state, error }: ListedMessage): boolean {
  return (
    html !== '' || files.length > 0 || error !== null || (state !== 'sent' && state !== 'pending')
  );
}

function isNewDay({ at }: ListedMessage, before: ListedMessage | undefined): boolean {
  const now = Date.now();
  return before === undefined || formatDay(before.at, now) !== formatDay(at, now);
}

function toMessagePage({ messages: items, next }: OutputOf<'conversations/messages'>) {
  return { items, next };
}

const keyOf = ({ id }: ListedMessage) => id;

/**
 * Sorts by time. A question comes before its answer if both were stored in the same millisecond.
 */
function compareByTime(a: ListedMessage, b: ListedMessage): number {
  const order = a.at - b.at || a.direction.localeCompare(b.direction);
  return order || Number(a.id.slice(1)) - Number(b.id.slice(1));
}

/**
 * Scrolls to the end of the list, or to the search result. The scroll position is kept when older
 * messages are added.
 */
function useScrollPosition(
  list: { readonly current: HTMLOListElement | null },
  messages: readonly ListedMessage[],
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
    } else if (was.last !== last && isNearlyVisible(shown(was.last))) {
      shown(last)?.scrollIntoView({ block: 'nearest' });
    }
  }, [first, last]);
}

/** Whether the end of an element is visible or almost visible. */
function isNearlyVisible(element: Element | null | undefined): boolean {
  return element != null && element.getBoundingClientRect().bottom < innerHeight + 100;
}

const STATES: Readonly<Record<ListedMessage['state'], string>> = {
  waiting: 'waiting',
  running: 'being answered',
  answered: '',
  silent: 'the agent stayed silent',
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

interface MessageProps {
  readonly conversation: string;
  readonly message: ListedMessage;
  readonly onRewound: (report: RewindReport) => void;
}

/** A message, rendered as in the chat. */
function Message({ conversation, message, onRewound }: MessageProps): VNode {
  const { at, direction, state, error, why, text, isNotice } = message;
  const [isAsked, setAsked] = useState(false);
  const who = getWriterName(message);
  return (
    <article
      aria-label={`${who}, ${formatMoment(at)}`}
      class={direction === 'out' ? `answer ${isNotice ? 'is-notice' : ''}` : 'theirs'}
    >
      <p class="note">
        <b>{who}</b>
        <time dateTime={new Date(at).toISOString()}>{formatTimeOfDay(at)}</time>
        {STATES[state] !== '' && <b class={`mark is-${state}`}>{STATES[state]}</b>}
        {why !== null && (
          <TextButton label="Why" isExpanded={isAsked} onPress={() => setAsked(!isAsked)} />
        )}
        {message.history === 'now' && <ReturnTo {...{ conversation, message, onRewound }} />}
      </p>
      <MessageBody conversation={conversation} message={message} />
      {error !== null && state !== 'sent' && <OutsideText look="trouble">{error}</OutsideText>}
      {isAsked && why !== null && (
        <DataScope>
          <WhyLink why={why} text={text} />
        </DataScope>
      )}
    </article>
  );
}

/** The author of a message: a person, the agent, a person acting as the agent, or Parley itself. */
function getWriterName({ direction, from, trigger, writtenBy, isNotice }: ListedMessage): string {
  if (writtenBy !== null) {
    return writtenBy.as === 'self' ? writtenBy.name : `${writtenBy.name}, as the agent`;
  }
  if (isNotice) return 'Parley';
  return direction === 'out' ? 'Answer' : (from ?? `Parley (${trigger})`);
}

function MessageBody({ conversation, message }: Omit<MessageProps, 'onRewound'>): VNode {
  const { id, direction, text, html, files, state } = message;
  const folder = `/api/conversations/${encodeURIComponent(conversation)}`;
  const number = id.slice(1);
  return (
    <>
      {html !== null && html !== '' && (
        <div class="said-text">
          <HtmlBlock html={html} />
        </div>
      )}
      {(html === null || html === '') && text !== '' && (
        <div class={direction === 'in' ? `bubble ${state === 'command' ? 'is-command' : ''}` : ''}>
          <OutsideText look="said-text is-plain">{text}</OutsideText>
        </div>
      )}
      <MessageFiles
        files={files.map((file) => ({ ...file, kind: toFileKind(file.kind), size: null }))}
        path={(index) =>
          direction === 'in' ? `${folder}/files/${number}/${index}` : `${folder}/sent/${number}`
        }
      />
    </>
  );
}

const KINDS = ['image', 'audio', 'voice', 'video', 'document', 'sticker'] as const;

/** A file of an unknown kind is treated as a document. */
function toFileKind(kind: string): WebFile['kind'] {
  return KINDS.find((one) => one === kind) ?? 'document';
}

/** The maximum length, in characters, of a message in the title of its trace. */
const FIRST_WORDS = 60;

function WhyLink({ why, text }: { readonly why: string; readonly text: string }): VNode {
  const data = useOperation('why/message', { message: why });
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [data.value]);
  const words = Array.from(text);
  const name = words.slice(0, FIRST_WORDS).join('');
  return (
    <div class="card" ref={box}>
      <DataContent data={data}>
        {(answer) => <WhySheet why={answer} of={words.length > FIRST_WORDS ? `${name}…` : name} />}
      </DataContent>
    </div>
  );
}
