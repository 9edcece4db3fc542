import { absent, type Layer } from '../layer.ts';
import { listItem } from './quoted-block.ts';

/** Connected browsers, desktops and servers; a lost one is no longer told of (G03). */
export const connectorsLayer: Layer = {
  id: 'connectors',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  render({ connectors = [], reader }, { heading = '## Connectors' }) {
    const connected = connectors.filter((connector) => connector.connected);
    if (connected.length === 0) return absent('nothing is connected');
    const { conversationId } = reader;
    return {
      text: [heading, ...connected.map(({ name, text }) => listItem(`${name}: ${text}`))].join(
        '\n',
      ),
      source: connected.map(({ name }) => name).join(', '),
      audience: { kind: 'conversation', conversationId },
    };
  },
};
