import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRowAgents } from './agents.tsx';
import { type ActionOutcome, type GatewayResponse, performOperation } from './gateway.ts';
import { useActionRunner, useOperation } from './ui/data.tsx';
import { formatCounted, formatMoment } from './ui/format.ts';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
  ProblemNote,
  Section,
} from './ui/widgets.tsx';

type DeadLetterList = OutputOf<'dead/list'>;
type ListedDeadLetter = DeadLetterList['letters'][number];
type DeadLetterKind = ListedDeadLetter['kind'];

/**
 * Settles one dead letter, or all of the given kinds. `evenTwice` includes messages that may arrive
 * twice.
 */
interface SettleRequest {
  readonly action: InputOf<'dead/settle'>['action'];
  readonly letters: number | readonly DeadLetterKind[];
  readonly evenTwice: boolean;
}

/** Failed messages waiting for a decision (D06). */
export function DeadLetterSection(): VNode {
  const [before, setBefore] = useState<number | null>(null);
  const { outcome, run } = useActionRunner();
  const data = useOperation('dead/list', { limit: 20, before: before ?? undefined });
  const settle = (settling: SettleRequest): void => run(() => settleDeadLetters(settling));
  return (
    <Section title="Dead letters" look="dead">
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {(list) => (
          <Letters list={list} isFirst={before === null} settle={settle} onPage={setBefore} />
        )}
      </DataContent>
    </Section>
  );
}

type SettleDeadLetters = (settling: SettleRequest) => void;

interface LettersProps {
  readonly list: DeadLetterList;
  readonly settle: SettleDeadLetters;
  readonly isFirst: boolean;
  /** Shows the list page that follows a dead letter; null for the newest. */
  readonly onPage: (before: number | null) => void;
}

function Letters({ list, settle, isFirst, onPage }: LettersProps): VNode {
  const { letters, counts, next } = list;
  const { isShown, chosen } = useRowAgents();
  if (counts.refused + counts.uncertain + counts.unanswered === 0) {
    return <p>No failed messages.</p>;
  }
  const shown = letters.filter(({ conversationId }) => isShown(conversationId));
  return (
    <>
      {/* These actions apply to the dead letters of all agents. */}
      {chosen === undefined && <AllDeadLetters counts={counts} settle={settle} />}
      {chosen && shown.length === 0 && <p>None of these belong to {chosen.title}.</p>}
      <List look="cards" of={shown}>
        {(letter) => <DeadLetterCard key={letter.id} letter={letter} settle={settle} />}
      </List>
      <p class="actions">
        {!isFirst && <ActionButton label="Newest" onPress={() => onPage(null)} />}
        {next !== null && <ActionButton label="Older" onPress={() => onPage(next)} />}
      </p>
    </>
  );
}

/** Actions on all dead letters, shown when there are several. */
function AllDeadLetters({
  counts,
  settle,
}: Pick<DeadLetterList, 'counts'> & { settle: SettleDeadLetters }) {
  const { refused, uncertain, unanswered } = counts;
  const certain = refused + unanswered;
  const all = certain + uncertain;
  const spared = uncertain > 0 ? ' Letters that may have arrived already are skipped.' : '';
  return (
    <div class="actions">
      <p class="facts">
        {refused} not delivered, {uncertain} perhaps, {unanswered} not answered.
      </p>
      {certain > 1 && (
        <ConfirmButton
          label="Send all again"
          question={`This sends ${certain} dead letters again.${spared}`}
          confirm={`Send ${certain} again`}
          onPress={() =>
            settle({ action: 'replay', letters: ['refused', 'unanswered'], evenTwice: false })
          }
        />
      )}
      {all > 1 && (
        <ConfirmButton
          label="Drop all"
          look="is-grave"
          question={`This discards ${all} dead letters. They will never be sent or listed again.`}
          confirm={`Drop ${all}`}
          onPress={() => settle({ action: 'drop', letters: ALL, evenTwice: false })}
        />
      )}
    </div>
  );
}

const ALL = ['refused', 'uncertain', 'unanswered'] as const;

const KINDS: Readonly<Record<DeadLetterKind, string>> = {
  refused: 'Not delivered',
  uncertain: 'Perhaps delivered',
  unanswered: 'Not answered',
};

interface DeadLetterProps {
  readonly letter: ListedDeadLetter;
  readonly settle: SettleDeadLetters;
}

/** The text in a dead letter comes from people and models, so it is shown as plain text. */
function DeadLetterCard(props: DeadLetterProps): VNode {
  const { letter } = props;
  const { id, kind, chat, diedAt, reason, conversationId } = letter;
  const agent = useRowAgents().titleOf(conversationId);
  const [isWhole, setWhole] = useState(false);
  const { value, failure } = useOperation('dead/show', isWhole ? { id } : null);
  const whole = isWhole ? value?.letter : null;
  const name = `letter-${id}`;
  const facts = describeLetter(letter);
  return (
    <article class="card letter" aria-labelledby={name}>
      <header>
        <h4 id={name}>
          <b class={`tone is-${kind}`}>{KINDS[kind]}</b> {chat}
        </h4>
        <p class="facts">
          {id} · {formatMoment(diedAt)}
          {agent !== null && ` · ${agent}`}
        </p>
      </header>
      {reason !== '' && <OutsideText>{reason}</OutsideText>}
      {getLetterTexts(whole ?? letter).map(({ from, text }, index) => (
        <OutsideText as="blockquote" key={index} look="said">
          {from !== '' && <b>{from}: </b>}
          {text}
        </OutsideText>
      ))}
      {facts !== '' && <p class="facts">{facts}</p>}
      <ProblemNote reason={isWhole && failure ? failure.reason : null} />
      <p class="actions">
        <DeadLetterActions {...props} />
        {isTruncated(letter) && (
          <ActionButton
            label={isWhole ? 'Show less' : 'Show all'}
            isExpanded={isWhole}
            onPress={() => setWhole(!isWhole)}
          />
        )}
      </p>
    </article>
  );
}

function DeadLetterActions({ letter, settle }: DeadLetterProps): VNode {
  const { id, kind } = letter;
  const again = kind === 'unanswered' ? 'Ask again' : 'Send again';
  const settleThis = (action: SettleRequest['action']) => () =>
    settle({ action, letters: id, evenTwice: action === 'replay' && kind === 'uncertain' });
  return (
    <span class="actions">
      <ConfirmButton
        label={again}
        name={`${again}: ${id}`}
        question={describeRisk(letter)}
        confirm={`${again} anyway`}
        onPress={settleThis('replay')}
      />
      <ConfirmButton
        label="Drop"
        name={`Drop: ${id}`}
        look="is-grave"
        question="It will never be sent or listed again."
        confirm="Drop it"
        onPress={settleThis('drop')}
      />
    </span>
  );
}

/** The text in a dead letter; `from` is empty for a message that Parley sent. */
function getLetterTexts(letter: ListedDeadLetter) {
  return letter.kind === 'unanswered' ? letter.messages : [{ from: '', text: letter.text }];
}

/** Whether the list shows only part of the dead letter. */
export function isTruncated(letter: ListedDeadLetter): boolean {
  const texts = getLetterTexts(letter);
  const isLess = letter.kind === 'unanswered' && letter.count > texts.length;
  return isLess || texts.some(({ text }) => text.endsWith('…'));
}

/** The risk of sending it again. */
function describeRisk(letter: ListedDeadLetter): string | undefined {
  if (letter.kind === 'uncertain') return 'It may have arrived already, so it could arrive twice.';
  return letter.kind === 'unanswered' && letter.steps > 0
    ? 'The tool calls have taken effect and may be repeated.'
    : undefined;
}

function describeLetter(letter: ListedDeadLetter): string {
  if (letter.kind === 'unanswered') {
    return letter.steps > 0 ? `The turn had completed ${formatCounted(letter.steps, 'step')}.` : '';
  }
  const { part, file } = letter;
  const facts = [
    ...(part === null ? [] : [`Part ${part} of an answer.`]),
    ...(file === '' ? [] : [`With the file ${file}.`]),
  ];
  return facts.join(' ');
}

const DONE = { replay: 'replayed', drop: 'dropped' } as const;

/** Sends requests until all of these dead letters are settled. Never rejects. */
async function settleDeadLetters({
  action,
  letters,
  evenTwice,
}: SettleRequest): Promise<ActionOutcome> {
  let done = 0;
  let after: number | null = 0;
  while (after !== null) {
    const which: InputOf<'dead/settle'>['letters'] =
      typeof letters === 'number' ? [letters] : { after, kinds: [...letters] };
    const answer: GatewayResponse<OutputOf<'dead/settle'>> = await performOperation('dead/settle', {
      ...{ action, letters: which, evenTwice },
    });
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    done += answer.value.results.filter(({ result }) => result === DONE[action]).length;
    after = answer.value.next;
  }
  if (done === 0) return { text: 'Already settled.', isTrouble: false };
  const what = done === 1 ? 'It is' : `${done} are`;
  const end = action === 'replay' ? 'being sent again' : 'dropped';
  return { text: `${what} ${end}.`, isTrouble: false };
}
