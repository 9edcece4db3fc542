/**
 * An event whose only news is one piece of text: what stands before the piece, the piece as JSON escapes
 * it, and what stands behind it. `"delta":{"content":"…"}` is OpenAI's chat format, with the names that
 * servers give to thoughts; `"delta":{"type":"text_delta","text":"…"}` is Anthropic's.
 */
const PIECE_EVENT = new RegExp(
  [
    String.raw`^((?:event: \w+\n)?data: \{[^\n]*[{,] ?"delta": ?\{`,
    String.raw`(?:"\w+": ?(?:null|"assistant"|"\w+_delta"), ?)*`,
    '"(?:content|reasoning_content|reasoning|text|thinking)": ?")',
    String.raw`([^"\\\n]*(?:\\.[^"\\\n]*)*)`,
    String.raw`("(?:, ?"\w+": ?null)*\}[^\n]*)$`,
  ].join(''),
);
const END = '\n\n';

/**
 * Makes a function for the pieces of one stream of server-sent events, in their order. Neighbouring
 * events that differ in nothing but their piece of text become one event: each costs the AI SDK three
 * web streams and a validation, and a person sees them at the same moment. Whatever it does not know
 * word for word, it passes on as it is.
 */
export function eventJoiner(): (piece: Buffer) => Buffer {
  let isWhole = true;
  return (piece) => {
    const startsWhole = isWhole;
    isWhole = piece.subarray(-END.length).equals(END_BYTES);
    // Half an event may end in the middle of a character.
    return startsWhole && isWhole ? Buffer.from(joinEvents(piece.toString())) : piece;
  };
}

const END_BYTES = Buffer.from(END);

function joinEvents(events: string): string {
  let joined = '';
  let open: { head: string; text: string; tail: string } | null = null;
  const close = () => {
    if (open !== null) joined += open.head + open.text + open.tail + END;
    open = null;
  };
  for (const event of events.slice(0, -END.length).split(END)) {
    const [, head = '', text = '', tail = ''] = PIECE_EVENT.exec(event) ?? [];
    if (open !== null && open.head === head && open.tail === tail) {
      open.text += text;
      continue;
    }
    close();
    if (head === '' || deltasIn(event) !== 1) joined += event + END;
    else open = { head, text, tail };
  }
  close();
  return joined;
}

/** An event with several answers is none of one piece. */
function deltasIn(event: string): number {
  return event.split('"delta"').length - 1;
}
