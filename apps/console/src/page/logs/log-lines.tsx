import type { LogLine } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { toHref } from '../route.ts';

interface LogLinesProps {
  readonly lines: readonly LogLine[];
  /** Whether the lines come from several processes. */
  readonly isOfMany: boolean;
}

/** Log lines, each with the name of its conversation and a link to the trace of its message. */
export function LogLines({ lines, isOfMany }: LogLinesProps): VNode {
  if (lines.length === 0) return <p class="nothing">No matching lines.</p>;
  return (
    <ol class="rows log log-lines" aria-label="Lines, newest first">
      {lines.map((line) => (
        <li key={toLineKey(line)} class={`is-${line.level}`}>
          <time dateTime={new Date(line.at).toISOString()} title={new Date(line.at).toISOString()}>
            {formatClockTime(line.at)}
          </time>
          <span class="tone">{line.level}</span>
          <LineText line={line} isOfMany={isOfMany} />
        </li>
      ))}
    </ol>
  );
}

function toLineKey({ at, process, text, facts }: LogLine): string {
  return `${at} ${process} ${text} ${JSON.stringify(facts)}`;
}

/** Seconds are shown because there are many lines per minute. */
function formatClockTime(at: number): string {
  const time = new Date(at);
  const clock = time.toLocaleTimeString();
  return time.toDateString() === new Date().toDateString()
    ? clock
    : `${time.toLocaleDateString()}, ${clock}`;
}

/** Fields that the line already shows in another form. */
const SHOWN = new Set(['conversation', 'turn', 'channel', 'account']);

function LineText({ line, isOfMany }: { readonly line: LogLine; readonly isOfMany: boolean }) {
  const { text, component, conversation, turn, message, process, facts } = line;
  const asked = turn ?? message;
  const rest = Object.entries(facts).filter(([name, value]) => !SHOWN.has(name) && value !== null);
  return (
    <div>
      <p class="row">
        <span dir="auto">
          {component !== null && <span class="hint">{component} </span>}
          {text}
        </span>
        {conversation !== null &&
          (conversation.title === null ? (
            <span class="hint">{conversation.id}</span>
          ) : (
            <a href={toHref('conversations', conversation.id)}>{conversation.title}</a>
          ))}
        {asked !== null && <a href={toHref('why', asked)}>Why</a>}
        {isOfMany && <span class="hint">{process}</span>}
      </p>
      {rest.length > 0 && (
        <p class="hint" dir="auto">
          {rest.map(([name, value]) => `${name}=${formatFact(value)}`).join(' ')}
        </p>
      )}
    </div>
  );
}

function formatFact(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
