import { absent, type Layer } from '../layer.ts';
import { readContextFile } from './context-file.ts';
import { countOf } from './count-of.ts';
import { toolDescriber } from './describe-tools.ts';
import { narrowestAudience } from './narrowest-audience.ts';
import { fillTools } from './tools-placeholder.ts';

/**
 * What the agent can do here, generated from the registered tools (P11). Where the layout names a file
 * for it, the list goes where that file has `{tools_description}`, or before the file's own words (P06,
 * P08).
 */
export function toolsLayer(): Layer {
  const describe = toolDescriber();
  return {
    id: 'tools',
    volatility: 'session',
    placement: 'system',
    modes: ['full', 'minimal'],
    async render(context, { heading = '## Tools', files: [file] = [], characters }) {
      const { tools, reader } = context;
      if (tools === undefined) return absent('it was not said which tools there are');
      const described = describe(tools);
      const everyone = {
        source: countOf(tools.length, 'tool'),
        audience: { kind: 'everyone' },
      } as const;
      const notes =
        file === undefined ? undefined : await readContextFile(context, file, characters);
      if (notes === undefined || 'absent' in notes) {
        return { text: `${heading}\n${described}`, ...everyone };
      }
      return {
        text: `${heading}\n${fillTools(notes.text, described)}`,
        source: `${everyone.source}, ${notes.source}`,
        audience: narrowestAudience([everyone, notes], reader),
        cut: notes.cut,
      };
    },
  };
}
