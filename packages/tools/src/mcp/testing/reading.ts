/* For tests: reads captured messages of real servers as Parley does. */

export { type ListedEntries as Listed, readCatalogue } from '../catalogue.ts';
export { type McpConnection, readEntries } from '../client.ts';
export { createMessageReader } from '../read-message.ts';
export { createReadableFetch as readableFetch } from '../readable-fetch.ts';
export { formatPrompt as promptText, formatResult as resultText } from '../results.ts';
export { createStdioTransport as stdioTransport } from '../stdio.ts';
