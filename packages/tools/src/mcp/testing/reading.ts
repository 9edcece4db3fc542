/* For tests: how Parley reads what real servers send. */

export { type Listed, readCatalogue } from '../catalogue.ts';
export { type McpConnection, readEntries } from '../client.ts';
export { createMessageReader } from '../read-message.ts';
export { readableFetch } from '../readable-fetch.ts';
export { promptText, resultText } from '../results.ts';
export { stdioTransport } from '../stdio.ts';
