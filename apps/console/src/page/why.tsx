import type { MessageName, RecentMessage, Timeline, TimelineEntry, WhyAnswer } from '@parley/core';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRowAgents } from './agents.tsx';
import { type Route, toHref } from './route.ts';
import { useOperation } from './ui/data.tsx';
import { formatDuration } from './ui/format.ts';
import { EntryLink, SplitView } from './ui/frames.tsx';
import { DataContent, List } from './ui/widgets.tsx';

/**
 * The trace of a message, stage by stage, or the exact reason why there was no answer (D08). If the
 * address does not contain a message, the newest messages are listed.
 */
export function WhyView({ args: [message = ''] }: Route): VNode {
  const recent = useOperation('why/recent', {});
  const why = useOperation('why/message', { message: message || 'last' });
  const chosen = why.value?.kind === 'found' ? toMessageKey(why.value.timeline.message) : null;
  const known = recent.value?.messages.find((one) => toMessageKey(one) === chosen);
  return (
    <SplitView
      name="why-view"
      title="Why"
      label="Messages"
      showsList={message === ''}
      list={
        <>
          <WhySearchForm key={message} asked={message} />
          <DataContent data={recent}>
            {({ messages }) => <MessageList messages={messages} chosen={chosen} />}
          </DataContent>
        </>
      }
      back={toHref('why')}
    >
      <DataContent data={why}>
        {(answer) => <WhySheet why={answer} {...(known && { of: describeMessage(known) })} />}
      </DataContent>
    </SplitView>
  );
}

/** A form to find a message that is not in the list. */
function WhySearchForm({ asked }: { readonly asked: string }): VNode {
  const [text, setText] = useState(asked);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '') location.hash = toHref('why', text.trim());
  };
  return (
    <form class="row" onSubmit={onSubmit}>
      <input
        class="field"
        aria-label="Message"
        placeholder="Message, channel:chat/message or turn"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="quiet">
        Ask
      </button>
    </form>
  );
}

/** Messages to choose from, newest first; if names are unknown, ids are shown. */
function MessageList(props: {
  readonly messages: readonly (RecentMessage | MessageName)[];
  readonly chosen: string | null;
}): VNode {
  const { isShown, titleOf } = useRowAgents();
  const shown = props.messages.filter((one) => !('chat' in one) || isShown(one.conversationId));
  return (
    <List look="entry-list" of={shown}>
      {(message) => {
        const key = toMessageKey(message);
        const agent = 'chat' in message ? titleOf(message.conversationId) : null;
        return (
          <EntryLink
            key={key}
            href={toHref('why', key)}
            title={'chat' in message ? message.chat : `${message.channel} ${message.chatId}`}
            at={message.at}
            facts={'chat' in message ? summarizeMessage(message) : message.messageId}
            isChosen={key === props.chosen}
          >
            {agent}
          </EntryLink>
        );
      }}
    </List>
  );
}

/**
 * The author's name and the text of a message come from people, so both are shown as plain text.
 */
function summarizeMessage({ from, text }: RecentMessage): string {
  if (text === '') return from ?? 'A message that was not accepted';
  return `${from ?? 'Parley'}: ${text}`;
}

function describeMessage(message: RecentMessage): string {
  return `${summarizeMessage(message)} (${message.chat}, ${message.channel})`;
}

/** Identifies a message in a request to the gateway. */
function toMessageKey({ channel, account, chatId, messageId }: MessageName): string {
  return `${channel}/${account}:${chatId}/${messageId}`;
}

interface SheetProps {
  readonly why: WhyAnswer;
  /** The title of the message; defaults to its ids. */
  readonly of?: string;
}

/** The trace of a message, if it is known. */
export function WhySheet({ why, of }: SheetProps): VNode {
  switch (why.kind) {
    case 'unknown':
      return <p class="nothing">There is no such message.</p>;
    case 'several':
      return (
        <section>
          <h3>Several messages have that id</h3>
          <MessageList messages={why.candidates} chosen={null} />
        </section>
      );
    case 'found':
      return <TimelineSheet timeline={why.timeline} of={of} />;
  }
}

function TimelineSheet(props: {
  readonly timeline: Timeline;
  readonly of: string | undefined;
}): VNode {
  const { message, verdict, detail, entries, turnId, hasPrompt } = props.timeline;
  return (
    <section class="sheet why-sheet">
      <h3>{detail === undefined ? verdict : `${verdict} (${detail})`}</h3>
      <p class="why-name facts">
        {props.of ?? `${message.channel} ${message.chatId}, ${message.messageId}`}
      </p>
      <ol class="rows log why-stages">
        {entries.map((entry, index) => (
          <TimelineStage key={index} entry={entry} receivedAt={message.at} />
        ))}
      </ol>
      {hasPrompt && turnId !== null && (
        <p class="row">
          <a href={toHref('prompt', turnId)}>The prompt of its turn</a>
          <a href={toHref('replay', turnId)}>Replay</a>
        </p>
      )}
    </section>
  );
}

/** One stage; its time is counted from the receipt of the message. */
function TimelineStage({ entry, receivedAt }: { entry: TimelineEntry; receivedAt: number }): VNode {
  const { stage, at, ms, text, detail, mark } = entry;
  const after = at === null ? null : at - receivedAt;
  const offset = after === null ? '' : `${after < 0 ? '−' : '+'}${formatDuration(Math.abs(after))}`;
  return (
    <li>
      <time title={at === null ? '' : new Date(at).toLocaleString()}>{offset}</time>
      <b class={mark === undefined ? '' : 'tone is-marked'}>{stage}</b>
      <div>
        {text}
        {ms !== null && <span class="hint"> {formatDuration(ms)}</span>}
        {detail !== undefined && <div class="hint">{detail}</div>}
      </div>
    </li>
  );
}
