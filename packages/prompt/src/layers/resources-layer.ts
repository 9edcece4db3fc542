import { absent, type Layer } from '../layer.ts';
import { countOf } from './count-of.ts';
import { listItem } from './quoted-block.ts';

/** What the agent can read on demand. */
export const resourcesLayer: Layer = {
  id: 'resources',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ resources = [], reader }, { heading = '## Resources' }) {
    if (resources.length === 0) return absent('there are no resources');
    const lines = resources.map(({ name, location, description }) =>
      listItem(`${name} (${location}): ${description}`),
    );
    const { conversationId } = reader;
    return {
      text: [heading, 'Read these when you need them.', ...lines].join('\n'),
      source: countOf(resources.length, 'resource'),
      audience: { kind: 'conversation', conversationId },
    };
  },
};
