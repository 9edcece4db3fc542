import type { OutputOf } from '@parley/gateway/operations';
import type { PromptSummary } from '@parley/store';
import type { VNode } from 'preact';
import { useRowAgents } from '../agents.tsx';
import { type Route, toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount, formatDay, formatMoment, formatTimeOfDay } from '../ui/format.ts';
import { EntryLink, SplitView } from '../ui/frames.tsx';
import { type Older, useGrowing } from '../ui/growing.ts';
import { List, OlderButton, ShowData } from '../ui/widgets.tsx';
import { ComparisonView } from './comparison.tsx';
import { PromptLayers } from './layers.tsx';
import { PreviewSheet } from './preview.tsx';

/**
 * The prompts of all turns (P17): `#/prompt/TURN`, `#/prompt/TURN/against/EARLIER`, `#/preview`.
 * All of their text is shown as plain text, never as HTML.
 */
export function PromptView({ view, args: [turn = '', word, earlier = ''] }: Route): VNode {
  const data = useGrowing('prompts/list', {}, undefined, readPrompts, ({ turnId }) => turnId);
  const { isShown } = useRowAgents();
  const turns = (data.value ?? []).filter(({ conversationId }) => isShown(conversationId));
  const isPreview = view === 'preview';
  const chosen = turn || turns[0]?.turnId;
  const against = word === 'against' && earlier !== '' ? earlier : null;
  return (
    <SplitView
      name="prompts"
      title="Prompts"
      label="Turns"
      showsList={!isPreview && turn === ''}
      list={
        <>
          <a class="quiet" href={toHref('preview')} aria-current={isPreview ? 'true' : undefined}>
            Preview…
          </a>
          <ShowData data={data}>
            {() => (
              <TurnList turns={turns} chosen={isPreview ? undefined : chosen} older={data.older} />
            )}
          </ShowData>
        </>
      }
      back={toHref('prompt')}
    >
      {isPreview && <PreviewSheet />}
      {!isPreview && chosen && (
        <Turn key={chosen} turnId={chosen} against={against} turns={turns} />
      )}
    </SplitView>
  );
}

function readPrompts({ prompts: items, next }: OutputOf<'prompts/list'>) {
  return { items, next };
}

interface TurnListProps {
  readonly older: Older | null;
  readonly turns: readonly PromptSummary[];
  readonly chosen: string | undefined;
}

/** The recorded turns, newest first, grouped by day. */
function TurnList({ turns, chosen, older }: TurnListProps): VNode {
  if (turns.length === 0) {
    return (
      <p class="nothing">
        Nothing has been recorded yet. Write to the agent, and the prompt of that turn appears here.
      </p>
    );
  }
  return (
    <div>
      {groupByDay(turns).map(({ day, entries }) => (
        <section key={day} aria-label={day}>
          <h3 class="hint">{day}</h3>
          <List of={entries}>
            {(turn) => <TurnLink key={turn.turnId} turn={turn} isChosen={turn.turnId === chosen} />}
          </List>
        </section>
      ))}
      <OlderButton label="Older turns" older={older} />
    </div>
  );
}

function TurnLink({ turn, isChosen }: { turn: PromptSummary; isChosen: boolean }): VNode {
  const { turnId, at, layout, tokens, place } = turn;
  const agent = useRowAgents().titleOf(turn.conversationId);
  return (
    <EntryLink
      href={toHref('prompt', turnId)}
      title={getChatName(turn)}
      at={at}
      time={formatTimeOfDay(at)}
      facts={`${place.channel} · ${layout}`}
      isChosen={isChosen}
    >
      {formatAmount(tokens)} tokens{agent !== null && ` · ${agent}`}
    </EntryLink>
  );
}

/** The group's title, or otherwise the sender. */
function getChatName({ place: { title, personName, chatType } }: PromptSummary): string {
  const name = title ?? personName;
  return chatType === 'direct' ? name : `${name} · ${chatType}`;
}

function groupByDay(turns: readonly PromptSummary[]) {
  const days: { day: string; entries: PromptSummary[] }[] = [];
  for (const turn of turns) {
    const day = formatDay(turn.at, Date.now());
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(turn);
    else days.push({ day, entries: [turn] });
  }
  return days;
}

interface TurnProps {
  readonly turnId: string;
  readonly against: string | null;
  readonly turns: readonly PromptSummary[];
}

function Turn({ turnId, against, turns }: TurnProps): VNode {
  const data = useOperation('prompts/show', { turn: turnId });
  const turn = data.value;
  return (
    <>
      {turn && <TurnHead turn={turn} />}
      {turn && <CompareChoice turn={turn} turns={turns} against={against} />}
      {against === null ? (
        <ShowData data={data}>
          {(prompt) => (
            <div class="sheet">
              <PromptLayers request={prompt} />
            </div>
          )}
        </ShowData>
      ) : (
        <ComparedTurns turnId={turnId} against={against} />
      )}
    </>
  );
}

function ComparedTurns({
  turnId,
  against,
}: {
  readonly turnId: string;
  readonly against: string;
}): VNode {
  const data = useOperation('prompts/compare', { before: against, after: turnId });
  return (
    <ShowData data={data}>{(comparison) => <ComparisonView comparison={comparison} />}</ShowData>
  );
}

function TurnHead({ turn }: { readonly turn: PromptSummary }): VNode {
  const { at, place, layout, model, tokens, characters, answeredBy } = turn;
  const { personName, personId, channel, account } = place;
  return (
    <header class="entry-head">
      <h2 class="title">{getChatName(turn)}</h2>
      <p>
        {formatMoment(at)} · {personName} ({personId}) · {channel}/{account}
      </p>
      {answeredBy !== undefined && <p>{answeredBy}</p>}
      <p>
        <b>{formatAmount(tokens)} tokens</b> in {formatAmount(characters)} characters · layout{' '}
        {layout} · {model}
      </p>
      <p class="entry-id">{turn.turnId}</p>
    </header>
  );
}

/** Selects an earlier turn for comparison; turns in the same chat come first. */
function CompareChoice(props: Omit<TurnProps, 'turnId'> & { turn: PromptSummary }) {
  const { turn, turns, against } = props;
  const others = turns.filter(({ turnId }) => turnId !== turn.turnId);
  if (others.length === 0 && against === null) return null;
  const isHere = (other: PromptSummary): boolean => other.conversationId === turn.conversationId;
  const compareWith = (other: string): void => {
    location.hash = toHref('prompt', turn.turnId, ...(other === '' ? [] : ['against', other]));
  };
  const option = (other: PromptSummary): VNode => (
    <option key={other.turnId} value={other.turnId}>
      {formatMoment(other.at)} · {getChatName(other)} · {formatAmount(other.tokens)} tokens
    </option>
  );
  const isListed = others.some(({ turnId }) => turnId === against);
  return (
    <label class="row facts">
      <span>Compare with</span>
      <select
        class="field"
        value={against ?? ''}
        onChange={({ currentTarget }) => compareWith(currentTarget.value)}
      >
        <option value="">nothing</option>
        {against !== null && !isListed && <option value={against}>{against}</option>}
        <optgroup label="This chat">{others.filter(isHere).map(option)}</optgroup>
        <optgroup label="Other chats">
          {others.filter((other) => !isHere(other)).map(option)}
        </optgroup>
      </select>
    </label>
  );
}
