import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useContext, useRef, useState } from 'preact/hooks';
import { readDraft, saveDraft } from '../drafts.ts';
import { createRandomId, performOperation, runOperation } from '../gateway.ts';
import { toChatHref } from '../route.ts';
import { useActionRunner, useDataScope } from '../ui/data.tsx';
import { formatTimeOfDay } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { OutcomeNote, TextButton } from '../ui/widgets.tsx';
import { Who } from '../who.ts';
import {
  createReplyRequest,
  type ReplyRequest,
  readReplyRequest,
  removeReplyRequest,
  saveReplyRequest,
} from './reply-request.ts';

type ConversationReport = OutputOf<'conversations/show'>;

/** The name of an owner without a personal sign-in. */
const UNNAMED = 'The owner';

/**
 * The channel on which a reply is not read by a person, because programs wait for the answer to
 * their request.
 */
const PROGRAMS = 'api';

interface ReplyProps {
  readonly report: ConversationReport;
}

/** The area below a conversation: who is answering it, and the reply field (U12). */
export function ReplyArea({ report }: ReplyProps): VNode | null {
  if (report.channel === PROGRAMS) return null;
  if (report.channel === 'web') {
    return (
      <p class="dock column">
        <a href={toChatHref(report.chatId)}>Open this chat to write in it</a>
      </p>
    );
  }
  return (
    <div class="dock column">
      <TakeoverNote report={report} />
      <ReplyForm key={report.id} report={report} />
    </div>
  );
}

/** The person answering instead of the agent, or a button to take over. */
function TakeoverNote({ report: { id, agent, takenOver } }: ReplyProps): VNode {
  const { outcome, run } = useActionRunner();
  const me = useContext(Who)?.name ?? UNNAMED;
  const take = (): void =>
    run(() => runOperation('conversations/take-over', { conversationId: id }));
  const back = (): void =>
    run(() => runOperation('conversations/hand-back', { conversationId: id }));
  return (
    <>
      {takenOver !== null && (
        <p class="card row apart lead-note" role="status">
          <span>
            {takenOver.by === me ? 'You have' : `${takenOver.by} has`} taken this chat over until{' '}
            {formatTimeOfDay(takenOver.until)}. {agent} stays silent.
          </span>
          <TextButton label="Hand back" onPress={back} />
        </p>
      )}
      {(takenOver === null || takenOver.by !== me) && (
        <p class="hint lead-offer">
          {agent} answers here. <TextButton label="Take over" onPress={take} />
        </p>
      )}
      <OutcomeNote outcome={outcome} />
    </>
  );
}

const VOICES = [
  ['agent', (agent: string) => `As ${agent}`],
  ['self', () => 'As myself'],
] as const;

/**
 * The reply that is being written to a conversation. It is sent only once, even after several
 * attempts.
 */
function useReply({ id, newest }: Pick<ConversationReport, 'id' | 'newest'>) {
  const { outcome, run } = useActionRunner();
  const { isBusy } = useDataScope();
  const last = useRef(readReplyRequest(id));
  const [as, setAs] = useState<ReplyRequest['as']>(last.current?.as ?? 'agent');
  const [text, setText] = useState(() => readDraft(id));
  const typed = useRef(text);
  const write = (next: string): void => {
    typed.current = next;
    setText(next);
    saveDraft(id, next);
  };
  const send = (): void => {
    // Enter submits without the button, so a disabled button would not prevent a second request.
    if (text.trim() === '' || isBusy.peek()) return;
    const request = createReplyRequest(
      { conversationId: id, text, as },
      last.current,
      createRandomId,
    );
    last.current = request;
    saveReplyRequest(request);
    run(async () => {
      const answer = await performOperation('conversations/reply', { ...request, seen: newest });
      if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
      last.current = null;
      removeReplyRequest(id);
      // Text typed in the meantime starts another reply.
      if (typed.current === text) write('');
      return undefined;
    });
  };
  const canSend = !isBusy.value && text.trim() !== '';
  return { text, as, outcome, canSend, write, setAs, send };
}

function ReplyForm({ report }: ReplyProps): VNode {
  const { agent } = report;
  const title = report.name ?? report.title;
  const { text, as, outcome, canSend, write, setAs, send } = useReply(report);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <OutcomeNote outcome={outcome} />
      <textarea
        rows={2}
        dir="auto"
        maxLength={20_000}
        aria-label={`Reply to ${title}`}
        placeholder={
          as === 'agent' ? `Write to ${title} as ${agent}` : `Write to ${title} as yourself`
        }
        value={text}
        onInput={({ currentTarget }) => write(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="composer-bar">
        <span class="segments" role="group" aria-label="Write as">
          {VOICES.map(([voice, nameOf]) => (
            <button
              key={voice}
              type="button"
              aria-pressed={as === voice}
              onClick={() => setAs(voice)}
            >
              {nameOf(agent)}
            </button>
          ))}
        </span>
        <button
          type="submit"
          class="send"
          aria-label="Send"
          title="Send (Enter)"
          disabled={!canSend}
        >
          <Icon name="send" />
        </button>
      </div>
    </form>
  );
}
