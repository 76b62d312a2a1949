// Answers without a model: what each system says of each question, in the first run and in the second. `null` is no
// output, and `Error` a call that failed.
const ANSWERS = {
  'What is the capital of Italy?': {
    plain: ['Rome', 'Milan'],
    wordy: ['It is Rome.', 'It is Rome.'],
  },
  'Which river flows through Rome?': {
    plain: [null, { answer: 'Tevere' }],
    wordy: ['', Error],
  },
};
const calls = {};

module.exports = class {
  constructor(options) {
    this.name = options.config.name;
  }

  id() {
    return `mock:${this.name}`;
  }

  async callApi(prompt, context) {
    const call = `${this.name} ${prompt}`;
    calls[call] = (calls[call] ?? 0) + 1;
    const output = ANSWERS[context.vars.question][this.name][calls[call] - 1];
    return output === Error ? { error: 'the endpoint was not there' } : { output };
  }
};
