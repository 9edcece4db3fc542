import type { Button, ToolCallOfTurn } from '@parley/core';
import { Fragment, type RefObject, type VNode } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { WaitingApproval } from '../asked-call.tsx';
import type { ActionOutcome } from '../gateway.ts';
import { FoldedEntries, type ShownEntry } from '../ui/folded.tsx';
import { formatDay, formatTimeOfDay } from '../ui/format.ts';
import { getProseText, HtmlBlock } from '../ui/html-block.tsx';
import { Lazy } from '../ui/lazy.tsx';
import { PointActions } from '../ui/point-actions.tsx';
import { IconButton, TextButton } from '../ui/widgets.tsx';
import { ToolCalls } from './calls.tsx';
import { type CommandHint, findCommand } from './composer-keys.ts';
import {
  type AnswerEntry,
  type Conversation,
  type ConversationEntry,
  type DeliveryState,
  findLastQuestion,
  findPressedButton,
  listPressedLabels,
  type PersonMessageEntry,
} from './conversation.ts';
import { MessageFiles } from './files.tsx';
import { findApprovalCode, useQuestions } from './questions.ts';
import { findStopMarks } from './stop-marks.ts';

const askedCall = async () => (await import('../asked-call.tsx')).CallApproval;

interface LogProps {
  readonly conversation: Conversation;
  readonly agent: string;
  readonly actions: MessageActions;
}

/**
 * All messages, oldest first. Finished messages are in a live region that screen readers announce
 * as they arrive. The unfinished answer is outside the live region, because otherwise every piece
 * would be announced. Messages sent in the meantime follow below it.
 */
export function MessageLog({ conversation, agent, actions }: LogProps): VNode {
  const { entries, live, typing, commands, link, calls } = conversation;
  // Recomputed only once per answer instead of for every piece.
  const place = live?.place ?? null;
  const questions = useQuestions(entries);
  const lists = useMemo(() => {
    const labels = listPressedLabels(entries);
    const last = findLastQuestion(entries);
    const stops = findStopMarks(entries, commands);
    const shown = entries.map((entry, nth): ShownEntry => {
      const { id: key } = entry;
      const state = getFoldState(entry);
      if (stops.hidden.has(key)) return { key, state: 'beside', node: <Fragment /> };
      const day = formatDay(entry.at, Date.now());
      const before = entries[nth - 1];
      const isNewDay = before === undefined || formatDay(before.at, Date.now()) !== day;
      const node = (
        <>
          {isNewDay && <p class="day hint">{day}</p>}
          {entry.kind === 'mine' ? (
            <PersonMessageBubble
              message={entry}
              commands={commands}
              label={labels.get(entry.id) ?? null}
              actions={actions}
              isLast={entry === last}
              isStopMarked={nth < stops.last}
            />
          ) : (
            <AnswerMessage
              message={entry}
              agent={agent}
              chosen={findPressedButton(entry, entries)}
              asked={questions.get(findApprovalCode(entry.buttons) ?? '') ?? null}
              calls={isFirstPart(entry, before) ? (calls.get(entry.turnId ?? '') ?? []) : []}
              actions={actions}
              isLast={nth === entries.length - 1}
            />
          )}
        </>
      );
      return { key, state, node };
    });
    const end = entries.findIndex(({ id }) => id === place) + 1 || entries.length;
    return { above: shown.slice(0, end), below: shown.slice(end) };
  }, [entries, commands, agent, actions, place, calls, questions]);
  return (
    <>
      <EntryLog label="Conversation" entries={lists.above} />
      {live && (
        <div class={`answer is-live ${link === 'online' ? '' : 'is-stale'}`} aria-live="off">
          <ToolCalls calls={calls.get(live.turnId) ?? []} isLive />
          <HtmlBlock html={live.html} />
        </div>
      )}
      {lists.below.length > 0 && (
        <EntryLog label="Sent while the answer was being written" entries={lists.below} />
      )}
      {typing && !live && (
        <div class="typing" aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      )}
    </>
  );
}

/** A turn's tool calls are shown before the first part of its answer. */
function isFirstPart({ turnId }: AnswerEntry, before: ConversationEntry | undefined): boolean {
  return before?.kind !== 'answer' || before.turnId !== turnId;
}

/** Commands and notices are in no history. */
function getFoldState(entry: ConversationEntry): ShownEntry['state'] {
  if (entry.isRewound) return 'rewound';
  return isInHistory(entry) ? 'shown' : 'beside';
}

/** Whether the agent sees the entry as part of the conversation, unless it was rewound. */
function isInHistory(entry: ConversationEntry): boolean {
  if (entry.kind === 'answer') return entry.turnId !== null;
  return entry.delivery.kind === 'sent' && entry.delivery.outcome !== 'command';
}

interface EntryLogProps {
  readonly label: string;
  readonly entries: readonly ShownEntry[];
}

function EntryLog({ label, entries }: EntryLogProps): VNode {
  return (
    <div
      class="messages"
      role="log"
      aria-live="polite"
      aria-label={label}
      aria-relevant="additions"
    >
      <FoldedEntries entries={entries} />
    </div>
  );
}

export interface MessageActions {
  /** The address of a file that the person attached. */
  readonly filePath: (message: string, index: number) => string;
  /** The address of a file that the agent sent. */
  readonly sentPath: (part: string) => string;
  /** Puts a refused message back into the field. */
  readonly edit: (message: PersonMessageEntry) => void;
  readonly dismiss: (id: string) => void;
  readonly press: (message: AnswerEntry, button: Button) => void;
  /** Puts the last message back into the field; sending it replaces the original. */
  readonly rewrite: (message: PersonMessageEntry) => void;
  /** Sends the last message again, replacing it. */
  readonly askAgain: () => void;
  /** Goes on from a message, leaving out what follows. */
  readonly rewind: (entry: ConversationEntry) => void;
  /** Opens a copy of the chat up to a message; null until the chat has a conversation. */
  readonly branch: ((entry: ConversationEntry) => Promise<ActionOutcome | undefined>) | null;
}

interface PersonMessageProps {
  readonly message: PersonMessageEntry;
  readonly commands: readonly CommandHint[];
  /** The label of the pressed button, if a button press sent this message. */
  readonly label: string | null;
  readonly actions: MessageActions;
  /** Whether it is the person's last message. */
  readonly isLast: boolean;
  /** Whether a later message already shows that the answer was stopped. */
  readonly isStopMarked: boolean;
}

/**
 * A message from the person, shown as a bubble, or as a small centered mark if it is a command or a
 * button press.
 */
function PersonMessageBubble(props: PersonMessageProps): VNode {
  const { message, commands, label, actions, isLast, isStopMarked } = props;
  const { text, at, delivery } = message;
  const command = findCommand(text, commands);
  const isQuiet = (command !== null || label !== null) && delivery.kind === 'sent';
  const mark = command === 'new' ? 'Context cleared' : `/${command}`;
  return (
    <article
      class={`mine ${isQuiet ? `is-command command-${command ?? 'press'}` : ''} is-${delivery.kind}`}
    >
      <span class="visually-hidden">You, {formatTimeOfDay(at)}:</span>
      {isQuiet ? (
        <p class="hint ruled command-mark">{label ?? mark}</p>
      ) : (
        <>
          {(label ?? text) !== '' && <Bubble text={label ?? text} />}
          <MessageFiles
            files={message.files}
            path={(index) => actions.filePath(message.id, index)}
            isSending={delivery.kind === 'sending'}
          />
          <DeliveryNote {...{ message, actions, isLast, isStopMarked }} />
        </>
      )}
    </article>
  );
}

/**
 * Longer messages are collapsed. The limits, in characters and lines, are about one phone screen.
 */
const FOLD_CHARACTERS = 1_800;
const FOLD_LINES = 24;

function Bubble({ text }: { readonly text: string }): VNode {
  const [open, setOpen] = useState(false);
  const long =
    text.length > FOLD_CHARACTERS || text.split('\n', FOLD_LINES + 1).length > FOLD_LINES;
  // The browser would otherwise lay out a megabyte of invisible text, which freezes the page.
  const shown = long && !open ? text.slice(0, FOLD_CHARACTERS) : text;
  return (
    <div class={`bubble ${long && !open ? 'is-folded' : ''}`}>
      <p dir="auto">{shown}</p>
      {long && (
        <TextButton
          label={open ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
          isExpanded={open}
          onPress={() => setOpen(!open)}
        />
      )}
    </div>
  );
}

type NoteProps = Pick<PersonMessageProps, 'message' | 'actions' | 'isLast' | 'isStopMarked'>;

function DeliveryNote({ message, actions, isLast, isStopMarked }: NoteProps): VNode {
  const { delivery, id, text, at } = message;
  return (
    <p class="note">
      <span>{describeDelivery(delivery, at, isStopMarked)}</span>
      {isLast && delivery.kind === 'sent' && text !== '' && (
        <IconButton icon="edit" label="Edit and resend" onPress={() => actions.rewrite(message)} />
      )}
      <ReturnTo entry={message} actions={actions} />
      {delivery.kind === 'refused' && (
        <>
          <TextButton label="Edit" onPress={() => actions.edit(message)} />
          <TextButton label="Remove" onPress={() => actions.dismiss(id)} />
        </>
      )}
    </p>
  );
}

/** The status line below the person's own message. */
function describeDelivery(delivery: DeliveryState, at: number, isStopMarked: boolean): string {
  if (delivery.kind === 'refused') return delivery.reason;
  if (delivery.kind === 'sending') {
    if (delivery.sent !== undefined) return `Sending, ${Math.round(delivery.sent * 100)} %`;
    return delivery.late ? 'Not sent yet, trying again…' : 'Sending…';
  }
  if (delivery.isNew)
    return `${formatTimeOfDay(at)} · sent as a new message, because the original message was no longer the last one`;
  return delivery.outcome === 'stopped' && !isStopMarked
    ? `${formatTimeOfDay(at)} · stopped`
    : formatTimeOfDay(at);
}

interface AnswerProps {
  readonly message: AnswerEntry;
  readonly agent: string;
  /** The button that was pressed below the answer. */
  readonly chosen: Button | null;
  /** The pending call about which the answer's buttons decide. */
  readonly asked: WaitingApproval | null;
  readonly actions: MessageActions;
  readonly isLast: boolean;
  readonly calls: readonly ToolCallOfTurn[];
}

/**
 * An answer. Replies to commands and notices look different, because they were not written by a
 * model.
 */
function AnswerMessage(props: AnswerProps): VNode {
  const { message, agent, chosen, actions, isLast, calls } = props;
  const { id, html, file, buttons, at, turnId } = message;
  const box = useRef<HTMLElement>(null);
  const asked = chosen === null ? props.asked : null;
  const look = turnId === null ? 'is-notice' : '';
  return (
    <article ref={box} class={`answer ${look} ${asked === null ? '' : 'card is-asked'}`}>
      <span class="visually-hidden">
        {agent}, {formatTimeOfDay(at)}:
      </span>
      <ToolCalls calls={calls} isLive={false} />
      {file && <MessageFiles files={[file]} path={() => actions.sentPath(id)} />}
      {asked !== null && (
        <Lazy
          load={askedCall}
          props={{ asked, isInChat: true }}
          before={<HtmlBlock html={html} />}
        />
      )}
      {asked === null && (html !== '' || !file) && <HtmlBlock html={html} />}
      <Choices
        buttons={buttons}
        chosen={chosen}
        onPress={(button) => actions.press(message, button)}
      />
      <p class="note">
        <time dateTime={new Date(at).toISOString()}>{formatTimeOfDay(at)}</time>
        {asked === null && <CopyButton box={box} />}
        {isLast && turnId !== null && (
          <IconButton icon="again" label="Ask again" onPress={actions.askAgain} />
        )}
        <ReturnTo entry={message} actions={actions} />
      </p>
    </article>
  );
}

interface ReturnProps {
  readonly entry: ConversationEntry;
  readonly actions: MessageActions;
}

function ReturnTo({ entry, actions: { rewind, branch } }: ReturnProps): VNode | null {
  if (getFoldState(entry) !== 'shown') return null;
  return (
    <PointActions
      isQuestion={entry.kind === 'mine'}
      onRewind={async () => {
        rewind(entry);
        return undefined;
      }}
      onBranch={branch && (() => branch(entry))}
    />
  );
}

const COPIED_MS = 1_600;
const COPY = 'Copy answer';

/** Copies an answer as text. */
function CopyButton({ box }: { readonly box: RefObject<HTMLElement> }): VNode {
  const [label, setLabel] = useState(COPY);
  const copy = async (): Promise<void> => {
    const prose = box.current?.querySelector<HTMLElement>('.prose');
    if (prose == null) return;
    try {
      await navigator.clipboard.writeText(getProseText(prose));
      setLabel('Copied');
    } catch {
      // Without HTTPS, browsers block the clipboard except on localhost.
      getSelection()?.selectAllChildren(prose);
      setLabel('Selected: press Ctrl+C');
    }
    setTimeout(() => setLabel(COPY), COPIED_MS);
  };
  if (label !== COPY) return <span role="status">{label}</span>;
  return <IconButton icon="copy" label={label} onPress={() => void copy()} />;
}

interface ChoicesProps {
  readonly buttons: readonly Button[];
  /** The pressed button; after that, no other button can be chosen. */
  readonly chosen: Button | null;
  readonly onPress: (button: Button) => void;
}

/**
 * The buttons below an answer. All buttons look alike, because approving must not be easier than
 * denying.
 */
function Choices({ buttons, chosen, onPress }: ChoicesProps): VNode | null {
  if (buttons.length === 0) return null;
  if (chosen !== null) {
    return (
      <p class="chosen facts">
        You chose <b>{chosen.label}</b>.
      </p>
    );
  }
  return (
    <div class="row choices" role="group" aria-label="Your choice">
      {buttons.map((button) => (
        <button key={button.data} type="button" class="action" onClick={() => onPress(button)}>
          {button.label}
        </button>
      ))}
    </div>
  );
}
