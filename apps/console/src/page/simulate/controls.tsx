import type { FaultName } from '@parley/simulators';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { download } from '../gateway.ts';
import type { PlayerContext, PlayState } from './play.ts';

interface Props {
  readonly state: PlayState;
  readonly play: PlayerContext;
}

/** The label of each fault, and its effect on the bot. */
const FAULTS: Readonly<Record<FaultName, readonly [label: string, what: string]>> = {
  'rate-limit': ['Rate limit', 'The next message is refused with status 429 and a wait time'],
  'server-error': ['Server error', 'The next message is answered with a server error'],
  'format-refused': ['Format refused', 'The markup of the next message is refused'],
  'reset-before': ['Lost before', 'The connection breaks before the next message arrives'],
  'reset-after': ['Lost after', 'The next message arrives, but the bot gets no confirmation'],
  hang: ['No answer', 'The next message is never answered'],
  duplicate: ['Twice', 'The next event arrives twice'],
  silence: ['Silence', 'The connection stays open, but nothing arrives any more'],
  drop: ['Drop', 'The connection drops'],
  'session-lost': ['Session ends', "Another login, or a restart of the platform's servers"],
};

/** The controls of the simulated world. */
export function Controls({ state, play }: Props): VNode {
  return (
    <aside class="controls" aria-label="The world">
      <BotControls state={state} play={play} />
      <Faults state={state} play={play} />
      <Calls play={play} />
      <Flood state={state} play={play} />
      <Clock state={state} play={play} />
      <button type="button" onClick={() => void download('/api/scene', 'scene.jsonl')}>
        Save as a scene
      </button>
    </aside>
  );
}

function BotControls({ state, play: { chat, world } }: Props): VNode | null {
  const isDirect = chat.kind === 'direct';
  if (chat.kind === 'thread' || (isDirect && !world.can.block)) return null;
  const label = isDirect
    ? `${chat.isBotIn ? 'Block' : 'Unblock'} the bot as ${chat.title}`
    : `${chat.isBotIn ? 'Kick the bot out of' : 'Add the bot to'} ${chat.title}`;
  const change = () => state.act({ kind: 'bot', chat: chat.key, isIn: !chat.isBotIn });
  return (
    <section class="row" aria-label="The bot here">
      <h3>The bot here</h3>
      <button type="button" onClick={change}>
        {label}
      </button>
    </section>
  );
}

function Faults({ state, play: { chat, world } }: Props): VNode {
  const [seconds, setSeconds] = useState(5);
  const [isHere, setHere] = useState(false);
  const strike = (fault: FaultName) =>
    state.act({ kind: 'fault', fault, seconds, ...(isHere && { chat: chat.key }) });
  return (
    <section class="row" aria-label="Faults">
      <h3>Faults</h3>
      <ul class="row">
        {world.faults.map((fault) => (
          <li key={fault}>
            <button type="button" title={FAULTS[fault][1]} onClick={() => strike(fault)}>
              {FAULTS[fault][0]}
            </button>
          </li>
        ))}
      </ul>
      <label class="row facts">
        <input
          type="checkbox"
          checked={isHere}
          onChange={(event) => setHere(event.currentTarget.checked)}
        />
        only in {chat.title}
      </label>
      <label class="row facts">
        A rate limit's wait time, in seconds
        <input
          type="number"
          min={1}
          max={3_600}
          value={seconds}
          onInput={(event) => setSeconds(Number(event.currentTarget.value))}
        />
      </label>
      <button type="button" onClick={() => state.act({ kind: 'clear-faults' })}>
        Clear pending faults
      </button>
    </section>
  );
}

function Flood({ state, play: { chat, speaker } }: Props): VNode {
  const [count, setCount] = useState(20);
  const flood = () =>
    state.act({
      ...{ kind: 'flood', chat: chat.key, from: speaker.key, text: 'message', count },
      ...(chat.kind !== 'direct' && { mention: true }),
    });
  return (
    <section class="row" aria-label="Flood">
      <h3>Flood</h3>
      <label class="row facts">
        Messages from {speaker.name}
        <input
          type="number"
          min={1}
          max={500}
          value={count}
          onInput={(event) => setCount(Number(event.currentTarget.value))}
        />
      </label>
      <button type="button" onClick={flood}>
        Send them all
      </button>
    </section>
  );
}

const STEPS = [
  [10, '10 minutes'],
  [60, '1 hour'],
  [24 * 60, '1 day'],
] as const;

function Clock({ state, play: { world } }: Props): VNode {
  const ahead = Math.round(world.ahead / 60_000);
  const now = new Date(world.now).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <section class="row" aria-label="Clock">
      <h3>Clock</h3>
      <p>
        {now}
        {ahead > 0 && `, ${ahead.toLocaleString()} minutes ahead`}
      </p>
      {STEPS.map(([minutes, label]) => (
        <button key={label} type="button" onClick={() => state.act({ kind: 'clock', minutes })}>
          +{label}
        </button>
      ))}
      <p class="hint">
        The clock of the platform and of the simulated Parley. Scheduled tasks notice a change
        within half a minute.
      </p>
    </section>
  );
}

function Calls({ play: { world } }: Pick<Props, 'play'>): VNode {
  return (
    <section class="calls row" aria-label="The bot's calls">
      <h3>The bot's calls</h3>
      <ol class="layer-text" tabIndex={0} aria-label="Newest first">
        {[...world.calls].reverse().map(({ at, call, outcome, isTrouble }, index) => (
          <li key={`${at} ${index}`} class={isTrouble ? 'tone is-failed' : ''}>
            <code>{call}</code> <span>{outcome}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
