/* For tests: reads captured messages of real servers as Parley does. */

export { type ListedEntries, parseCatalog } from '../catalogue.ts';
export { type McpConnection, toEntryList } from '../client.ts';
export { createMessageReader } from '../read-message.ts';
export { createReadableFetch } from '../readable-fetch.ts';
export { formatPrompt, formatResult } from '../results.ts';
export { createStdioTransport } from '../stdio.ts';
