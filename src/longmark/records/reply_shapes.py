"""Files of saved replies: the objects of model APIs themselves, one a record, and the results of their batches.

`replies` reads the object, with its citations. The objects in the fixtures (tests/records/tools) were read by the models
of the SDKs that the shapes name. The lines around them in a batch's output file of OpenAI or Gemini have no model there:
their layout is not checked.
"""

from __future__ import annotations

from longmark.records.shapes import Shape

_BESIDE = {  # what a user may have joined to a reply
    "question": "not_null(question, query)",
    "question_id": "question_id",
    "contexts": "contexts",
    "references": "not_null(references, reference)",
    "sources": "sources",
}

ANTHROPIC = Shape(
    "messages of Anthropic",
    "anthropic 2.14.0 (types.Message)",
    keys=("type", "role", "content", "model"),
    when="type == 'message' && role == 'assistant' && type(content) == 'array'",
    fields={"id": "id", "answer": "@", "system": "model", **_BESIDE},
)

ANTHROPIC_BATCH = Shape(
    "results of a batch of Anthropic",
    "anthropic 2.14.0 (types.messages.MessageBatchIndividualResponse)",
    keys=("custom_id", "result"),
    when="type(result.type) == 'string'",
    fields={
        "id": "custom_id",
        "answer": "result.message",
        "system": "result.message.model",
        **_BESIDE,
    },
    skips={"requests that failed": "result.type != 'succeeded'"},
)

OPENAI_RESPONSES = Shape(
    "Responses of OpenAI",
    "openai 3.57.0 (types.responses.Response)",
    keys=("object", "output"),
    when="object == 'response'",
    fields={"id": "id", "answer": "@", "system": "model", **_BESIDE},
    skips={"responses that failed": "error || status == 'failed'"},
)

OPENAI_CHAT = Shape(
    "chat completions of OpenAI",
    "openai 3.57.0 (types.chat.ChatCompletion)",
    keys=("object", "choices"),
    when="object == 'chat.completion'",
    fields={"id": "id", "answer": "@", "system": "model", **_BESIDE},
    ignored={"further choices of a reply": "choices[1:]"},
)

OPENAI_BATCH = Shape(
    "results of a batch of OpenAI",
    "openai 3.57.0 (lines of a batch's output file: custom_id, response, error)",
    keys=("custom_id", "response"),
    when="type(response) == 'object' || error",
    fields={
        "id": "custom_id",
        "answer": "response.body",
        "system": "response.body.model",
        **_BESIDE,
    },
    skips={"requests that failed": "error || response.status_code != `200`"},
)

GEMINI = Shape(
    "replies of Gemini",
    "google-genai 3.6.1 (types.GenerateContentResponse)",
    keys=("candidates",),
    when="candidates[0].content",
    fields={
        "id": "not_null(id, responseId, response_id)",
        "answer": "@",
        "system": "not_null(modelVersion, model_version)",
        **_BESIDE,
    },
    ignored={"further choices of a reply": "candidates[1:]"},
)

GEMINI_BATCH = Shape(
    "results of a batch of Gemini",
    "google-genai 3.6.1 (types.InlinedResponse; lines of a batch's output file: key or request, response)",
    keys=("response",),
    when="(key || request) && response.candidates[0].content",
    fields={
        **_BESIDE,
        "id": "not_null(id, key)",
        "question": "not_null(question, query, question(request.contents))",
        "answer": "response",
        "system": "not_null(response.modelVersion, response.model_version)",
    },
    ignored={"further choices of a reply": "response.candidates[1:]"},
)

COHERE = Shape(
    "replies of Cohere",
    "cohere 7.3.1 (V2ChatResponse)",
    keys=("finish_reason", "message"),
    when="message.role == 'assistant' && type(message.content) == 'array'",
    fields={"id": "id", "answer": "@", **_BESIDE},
)

MISTRAL_CONVERSATIONS = Shape(
    "conversations of Mistral",
    "mistralai 3.7.0 (models.ConversationResponse)",
    keys=("object", "outputs"),
    when="object == 'conversation.response'",
    fields={
        "id": "conversation_id",
        "answer": "@",
        "system": "outputs[?type == 'message.output'] | [-1].model",
        **_BESIDE,
    },
)

AZURE = Shape(
    "chat completions of Azure OpenAI on your data",
    "Azure's REST reference (extensions.chat.completion)",
    keys=("object", "choices"),
    when="object == 'extensions.chat.completion'",
    fields={"id": "id", "answer": "@", "system": "model", **_BESIDE},
    ignored={"further choices of a reply": "choices[1:]"},
)

SHAPES = (
    COHERE,
    MISTRAL_CONVERSATIONS,
    AZURE,
    ANTHROPIC,
    ANTHROPIC_BATCH,
    OPENAI_RESPONSES,
    OPENAI_CHAT,
    OPENAI_BATCH,
    GEMINI,
    GEMINI_BATCH,
)
