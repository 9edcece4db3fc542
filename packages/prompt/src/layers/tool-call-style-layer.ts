import { absent, type Layer } from '../layer.ts';

const TEXT = `Use a tool without announcing it when the step is small and expected. Say a word first when the work has several steps, is delicate, or when somebody asked what you are doing.
- Where a tool does the job, use it; do not tell people to do it themselves.
- When a tool fails, read what it says before you try again, and never report a step that did not happen.`;

/** How to go about tools, for layouts that keep this apart from the list of tools. */
export const toolCallStyleLayer: Layer = {
  id: 'tool-call-style',
  volatility: 'static',
  placement: 'system',
  render({ tools = [] }, { heading = '## Tool Call Style' }) {
    if (tools.length === 0) return absent('there are no tools');
    return { text: `${heading}\n${TEXT}`, source: 'Parley', audience: { kind: 'everyone' } };
  },
};
